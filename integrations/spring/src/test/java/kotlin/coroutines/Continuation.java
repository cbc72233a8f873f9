package kotlin.coroutines;

/** Stands for Kotlin's type of that name, which the compiler adds to suspend functions. */
public interface Continuation {}
