/* Included in every file that `distributions/build.py` compiles, so that wheels also load where glibc is older than 2.34.
 *
 * glibc 2.34 moved these functions from libpthread to libc under a new version. Under the old version they are the same
 * functions, on every system. Everything else that the modules use is in glibc 2.17.
 */
#ifdef __x86_64__
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.2.5");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join, pthread_join@GLIBC_2.2.5");
#endif
