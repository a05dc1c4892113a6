// Loads FFmpeg at the first call instead of at every start: its 130 libraries cost about 30 ms,
// which a program that only inspects a stream does not need. libavformat with its own 30 comes
// when it is first called itself.
//
// Every function of the list is a jump through a slot. A slot first points at code that saves the
// arguments, has the libraries loaded, and jumps again.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <libavcodec/version_major.h>
#include <libavformat/version_major.h>
#include <libavutil/version.h>
#include <libswscale/version_major.h>

#include "functions.h"

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

#if defined(__x86_64__)
// %rax carries the number of vector arguments of a variadic call; six integer and eight vector
// registers carry arguments. The stack is 8 bytes off its alignment of 16 at entry; eight pushes and
// 136 bytes, of which 128 are used, bring it back.
#define FIRST_CALL(first_call, load) \
  __asm__( \
    ".text\n.p2align 4\n" #first_call ":\n" \
    "  push %rax\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n" \
    "  push %r11\n  sub $136, %rsp\n" \
    "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n" \
    "  movups %xmm3, 48(%rsp)\n  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n" \
    "  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n" \
    "  call " #load "\n" \
    "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n" \
    "  movups 48(%rsp), %xmm3\n  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n" \
    "  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n" \
    "  add $136, %rsp\n  pop %r11\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n" \
    "  pop %rdi\n  pop %rax\n  jmp *(%r11)\n");
#define FUNCTION_OF(name, first_call)                                                    \
  __attribute__((visibility("hidden"))) extern char nalu_first_##name[];                 \
  __attribute__((visibility("hidden"))) void *nalu_slot_##name = nalu_first_##name;      \
  __asm__(".text\n.p2align 4\n.globl " #name "\n.hidden " #name "\n.type " #name         \
          ", @function\n" #name ":\n  jmp *nalu_slot_" #name "(%rip)\n.globl nalu_first_" \
          #name "\n.hidden nalu_first_" #name "\nnalu_first_" #name ":\n  leaq nalu_slot_" #name \
          "(%rip), %r11\n  jmp " #first_call "\n");
#elif defined(__aarch64__)
// x0 to x8 and q0 to q7 carry arguments; x16 and x17 are free between a call and its function.
#define FIRST_CALL(first_call, load) \
  __asm__( \
    ".text\n.p2align 4\n" #first_call ":\n" \
    "  sub sp, sp, #224\n  stp x0, x1, [sp]\n  stp x2, x3, [sp, #16]\n  stp x4, x5, [sp, #32]\n" \
    "  stp x6, x7, [sp, #48]\n  stp x8, x30, [sp, #64]\n  str x17, [sp, #80]\n" \
    "  stp q0, q1, [sp, #96]\n  stp q2, q3, [sp, #128]\n  stp q4, q5, [sp, #160]\n" \
    "  stp q6, q7, [sp, #192]\n  bl " #load "\n" \
    "  ldp x0, x1, [sp]\n  ldp x2, x3, [sp, #16]\n  ldp x4, x5, [sp, #32]\n" \
    "  ldp x6, x7, [sp, #48]\n  ldp x8, x30, [sp, #64]\n  ldr x17, [sp, #80]\n" \
    "  ldp q0, q1, [sp, #96]\n  ldp q2, q3, [sp, #128]\n  ldp q4, q5, [sp, #160]\n" \
    "  ldp q6, q7, [sp, #192]\n  add sp, sp, #224\n  ldr x16, [x17]\n  br x16\n");
#define FUNCTION_OF(name, first_call)                                                        \
  __attribute__((visibility("hidden"))) extern char nalu_first_##name[];                     \
  __attribute__((visibility("hidden"))) void *nalu_slot_##name = nalu_first_##name;          \
  __asm__(".text\n.p2align 4\n.globl " #name "\n.hidden " #name "\n.type " #name             \
          ", @function\n" #name ":\n  adrp x17, nalu_slot_" #name "\n  add x17, x17, :lo12:" \
          "nalu_slot_" #name "\n  ldr x16, [x17]\n  br x16\n.globl nalu_first_" #name        \
          "\n.hidden nalu_first_" #name "\nnalu_first_" #name ":\n  b " #first_call "\n");
#else
#error "FFmpegLoader knows x86-64 and AArch64 only"
#endif

FIRST_CALL(nalu_ffmpeg_first_call, nalu_ffmpeg_load)
FIRST_CALL(nalu_avformat_first_call, nalu_avformat_load)
#define FUNCTION(name) FUNCTION_OF(name, nalu_ffmpeg_first_call)
#define FORMAT_FUNCTION(name) FUNCTION_OF(name, nalu_avformat_first_call)
AVUTIL_FUNCTIONS(FUNCTION)
AVCODEC_FUNCTIONS(FUNCTION)
SWSCALE_FUNCTIONS(FUNCTION)
AVFORMAT_FUNCTIONS(FORMAT_FUNCTION)

static void *open_library(const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  fprintf(stderr, "nalu: %s\n", dlerror());
  exit(1);
}

static void *find(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (function) return function;
  fprintf(stderr, "nalu: %s\n", dlerror());
  exit(1);
}

static void load_all(void) {
  void *library = open_library("libavutil.so." NUMBER(LIBAVUTIL_VERSION_MAJOR));
#define FIND(name) __atomic_store_n(&nalu_slot_##name, find(library, #name), __ATOMIC_RELEASE);
  AVUTIL_FUNCTIONS(FIND)
  library = open_library("libavcodec.so." NUMBER(LIBAVCODEC_VERSION_MAJOR));
  AVCODEC_FUNCTIONS(FIND)
  library = open_library("libswscale.so." NUMBER(LIBSWSCALE_VERSION_MAJOR));
  SWSCALE_FUNCTIONS(FIND)
}

static void load_format(void) {
  void *library = open_library("libavformat.so." NUMBER(LIBAVFORMAT_VERSION_MAJOR));
  AVFORMAT_FUNCTIONS(FIND)
}

__attribute__((used, visibility("hidden"))) void nalu_ffmpeg_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_all);
}

__attribute__((used, visibility("hidden"))) void nalu_avformat_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_format);
}
