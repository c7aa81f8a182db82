// A libnvidia-ml.so.1 without the entry points that discovery needs.
extern "C" const char* nvmlErrorString(int) {
  return "";
}
