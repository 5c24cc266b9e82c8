# libkinformer-apiserver: the embedded API server. Of libkinformer it has only util/, compiled in and hidden, so that each
# of the two works without the other.

pkg_check_modules(LIBMICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
