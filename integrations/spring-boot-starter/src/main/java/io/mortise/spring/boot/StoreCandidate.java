package io.mortise.spring.boot;

import io.mortise.spi.LockStore;
import io.mortise.spring.boot.MortiseProperties.StoreKind;
import java.util.function.Function;

/**
 * A bean of the application that a store can be opened over.
 *
 * @param kind which of the beans it is
 * @param bean what people call it
 * @param opener opens a store over it, with what the properties say; blocks
 */
record StoreCandidate(StoreKind kind, String bean, Function<MortiseProperties, LockStore> opener) {}
