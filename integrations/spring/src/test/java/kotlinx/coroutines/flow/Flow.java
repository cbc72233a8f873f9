package kotlinx.coroutines.flow;

/** Stands for Kotlin's type of that name, whose work is done by collectors. */
public interface Flow<T> {}
