/**
 * Fencing over gRPC, by the same text as in HTTP: a pair of interceptors. Start reading at {@link
 * io.mortise.http.grpc.FencingServerInterceptor}.
 */
@NullMarked
package io.mortise.http.grpc;

import org.jspecify.annotations.NullMarked;
