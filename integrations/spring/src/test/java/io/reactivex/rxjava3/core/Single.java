package io.reactivex.rxjava3.core;

/** Stands for RxJava's type of that name, without an adapter in Spring's registry. */
public abstract class Single<T> {}
