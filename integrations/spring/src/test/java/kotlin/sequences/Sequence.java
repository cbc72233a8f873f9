package kotlin.sequences;

/** Stands for Kotlin's type of that name, whose work is done by its iterators. */
public interface Sequence<T> {}
