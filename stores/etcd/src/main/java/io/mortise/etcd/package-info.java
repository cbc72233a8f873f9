/**
 * Locks in etcd, over its JSON gateway: start at {@link io.mortise.etcd.EtcdStore}. What a lock
 * does is decided by the document store in core; here a document is read and replaced.
 */
@NullMarked
package io.mortise.etcd;

import org.jspecify.annotations.NullMarked;
