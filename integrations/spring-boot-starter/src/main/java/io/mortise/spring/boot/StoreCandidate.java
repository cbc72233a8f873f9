package io.mortise.spring.boot;

import io.mortise.spi.LockStore;
import io.mortise.spring.boot.MortiseProperties.StoreKind;
import java.util.function.Function;

/**
 * A bean of the application that a store can be opened over.
 *
 * @param kind of the bean
 * @param bean its name for people
 * @param opener opens a store over it, with the settings of the properties; blocks
 */
record StoreCandidate(StoreKind kind, String bean, Function<MortiseProperties, LockStore> opener) {}
