internal import Platform

/// How an exchange reads `multipart/form-data`.
extension Exchange {
  /// Sets up the reader when the request calls for it.
  func prepareMultipart(_ request: Request) {
    guard let upload = flow.upload, let type = request.header("content-type"),
      MultipartReader.isMultipart(type)
    else { return }
    do throws(UploadError) {
      flow.multipart = try MultipartReader(
        contentType: type, secondPartName: upload.secondPartName)
    } catch {
      flow.hasFailed = true
      upload.failed(error)
    }
  }

  /// Gives the files' content to the upload and returns how many bytes are done with.
  func offerParts(_ bytes: Span<UInt8>, to upload: any Upload) -> Int {
    do throws(UploadError) {
      let taken = try flow.multipart?.read(bytes) { content, isSecond in
        isSecond ? upload.receiveSecond(content) : upload.receive(content)
      }
      return taken ?? bytes.count
    } catch {
      flow.hasFailed = true
      upload.failed(error)
      return 0
    }
  }
}
