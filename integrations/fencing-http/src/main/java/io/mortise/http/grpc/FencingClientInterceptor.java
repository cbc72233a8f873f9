package io.mortise.http.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.mortise.FencingToken;
import io.mortise.http.FencingHeader;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Sends a fencing token with each call, as metadata {@code fencing-token}. Thread-safe.
 *
 * <p>A refusal is an ordinary {@code StatusRuntimeException}: see {@link FencingServerInterceptor}
 * for status and trailers. If the token supplier fails, for example because the lease is lost, the
 * call fails with that exception and nothing is sent.
 */
public final class FencingClientInterceptor implements ClientInterceptor {
  private final Supplier<Optional<FencingToken>> tokens;

  /**
   * Takes tokens from a supplier.
   *
   * @param tokens called on the thread that starts a call, once for each call; empty sends none
   */
  public FencingClientInterceptor(Supplier<Optional<FencingToken>> tokens) {
    this.tokens = Objects.requireNonNull(tokens, "tokens");
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    // Here and not in start: an exception there leaves a call that never ends.
    Optional<FencingToken> token = tokens.get();
    return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        token.ifPresent(
            present -> {
              headers.discardAll(FencingServerInterceptor.TOKEN_KEY);
              headers.put(FencingServerInterceptor.TOKEN_KEY, FencingHeader.format(present));
            });
        super.start(listener, headers);
      }
    };
  }
}
