package io.mortise.http.grpc;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall;
import io.grpc.ForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import io.mortise.http.FencingHeader;
import io.mortise.http.InvalidFencingHeaderException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fencing token of a call, and turns refusals of the guard behind it into a status. The
 * guard is where the data is: this keeps no memory of tokens and fences nothing by itself.
 *
 * <table>
 *   <caption>Responses</caption>
 *   <tr><th>Call</th><th>Status</th></tr>
 *   <tr><td>unreadable or repeated metadata; none if it is required</td>
 *     <td>{@code INVALID_ARGUMENT}</td></tr>
 *   <tr><td>the guard threw {@link StaleTokenException} about this token, or the service gave it to
 *     {@code onError}</td><td>{@code FAILED_PRECONDITION}, with trailer {@code fencing-refused}
 *     </td></tr>
 *   <tr><td>as before, and {@link StaleTokenException#isGrantedTwice}</td><td>{@code ABORTED}, with
 *     that trailer</td></tr>
 *   <tr><td>anything else</td><td>as without the interceptor</td></tr>
 * </table>
 *
 * <p>Immutable and thread-safe; never blocks.
 */
public final class FencingServerInterceptor implements ServerInterceptor {
  /** The metadata of a call with a token, as {@link FencingHeader#format} writes it. */
  public static final Metadata.Key<String> TOKEN_KEY =
      Metadata.Key.of("fencing-token", Metadata.ASCII_STRING_MARSHALLER);

  /** The trailer of a refusal, as {@link FencingHeader#formatRefusal} writes it. */
  public static final Metadata.Key<String> REFUSED_KEY =
      Metadata.Key.of("fencing-refused", Metadata.ASCII_STRING_MARSHALLER);

  private static final Context.Key<FencingToken> CURRENT = Context.key("fencing-token");

  private final boolean required;

  private FencingServerInterceptor(boolean required) {
    this.required = required;
  }

  /** Calls without a token pass. */
  public static FencingServerInterceptor optional() {
    return new FencingServerInterceptor(false);
  }

  /** Calls without a token are refused. */
  public static FencingServerInterceptor required() {
    return new FencingServerInterceptor(true);
  }

  /** The token of the call that this thread serves; empty if it had none. Does not block. */
  public static Optional<FencingToken> token() {
    return Optional.ofNullable(CURRENT.get());
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    FencingToken token;
    try {
      token = read(headers);
    } catch (InvalidFencingHeaderException e) {
      return refused(call, String.valueOf(e.getMessage()));
    }
    if (token == null) {
      return required
          ? refused(
              call, "The call has no fencing token. Send that of your lease as fencing-token.")
          : Contexts.interceptCall(Context.current().withValue(CURRENT, null), call, headers, next);
    }
    Answering<Q, A> answering = new Answering<>(call, token);
    Context context = Context.current().withValue(CURRENT, token);
    ServerCall.Listener<Q> listener;
    try {
      listener = Contexts.interceptCall(context, answering, headers, next);
    } catch (RuntimeException e) {
      answering.closeFor(e);
      return new ServerCall.Listener<>() {};
    }
    return new RefusalListener<>(listener, answering);
  }

  private static @Nullable FencingToken read(Metadata headers) {
    Iterable<String> all = headers.getAll(TOKEN_KEY);
    if (all == null) {
      return null;
    }
    List<String> values = new ArrayList<>();
    all.forEach(values::add);
    // Joined, so that two values are refused.
    return FencingHeader.parse(String.join(",", values));
  }

  private static <Q, A> ServerCall.Listener<Q> refused(ServerCall<Q, A> call, String why) {
    call.close(Status.INVALID_ARGUMENT.withDescription(why), new Metadata());
    return new ServerCall.Listener<>() {};
  }

  /** A call that ends with the refusal that caused its end. */
  private static final class Answering<Q, A>
      extends ForwardingServerCall.SimpleForwardingServerCall<Q, A> {
    private final FencingToken token;

    /** A service may close a call on any thread. */
    private volatile boolean closed;

    Answering(ServerCall<Q, A> call, FencingToken token) {
      super(call);
      this.token = token;
    }

    /** Ends the call if this is a refusal of its token, and the service has not ended it itself. */
    void closeFor(RuntimeException failure) {
      if (closed || FencingHeader.refusal(token, failure).isEmpty()) {
        throw failure;
      }
      close(Status.UNKNOWN.withCause(failure), new Metadata());
    }

    @Override
    public void close(Status status, Metadata trailers) {
      closed = true;
      StaleTokenException stale = FencingHeader.refusal(token, status.getCause()).orElse(null);
      if (stale == null) {
        super.close(status, trailers);
        return;
      }
      trailers.put(REFUSED_KEY, FencingHeader.formatRefusal(stale));
      super.close(
          (stale.isGrantedTwice() ? Status.ABORTED : Status.FAILED_PRECONDITION)
              .withDescription(stale.getMessage())
              .withCause(stale),
          trailers);
    }
  }

  /** Ends the call if a service throws a refusal, which gRPC would answer with UNKNOWN. */
  private static final class RefusalListener<Q>
      extends ForwardingServerCallListener.SimpleForwardingServerCallListener<Q> {
    private final Answering<Q, ?> call;
    private boolean ended;

    RefusalListener(ServerCall.Listener<Q> listener, Answering<Q, ?> call) {
      super(listener);
      this.call = call;
    }

    @Override
    public void onMessage(Q message) {
      run(() -> super.onMessage(message));
    }

    @Override
    public void onHalfClose() {
      run(super::onHalfClose);
    }

    @Override
    public void onReady() {
      run(super::onReady);
    }

    /** Called by one thread at a time, as gRPC promises. */
    private void run(Runnable step) {
      if (ended) {
        return;
      }
      try {
        step.run();
      } catch (RuntimeException e) {
        call.closeFor(e);
        ended = true;
      }
    }
  }
}
