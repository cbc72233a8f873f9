/**
 * Fencing over gRPC, by the same text as in HTTP: a pair of interceptors, of which {@link
 * io.mortise.http.grpc.FencingServerInterceptor} is the one to start reading at.
 */
@NullMarked
package io.mortise.http.grpc;

import org.jspecify.annotations.NullMarked;
