/**
 * Locks in etcd, over its JSON gateway: start at {@link io.mortise.etcd.EtcdStore}. The document
 * store in core decides what a lock does; here a document is read and replaced.
 */
@NullMarked
package io.mortise.etcd;

import org.jspecify.annotations.NullMarked;
