// Nothing to call: the functions of libav that Codec uses are defined by this target, and load the
// libraries at the first call of any of them.
