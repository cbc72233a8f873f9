package io.mortise.http;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;

/**
 * Sends a fencing token with each request of a {@code WebClient}, and fails with {@link
 * StaleTokenException} if the server's guard refused it. With {@code mortise-spring} the token is
 * that of {@code ReactiveLockContext}. Thread-safe; never blocks.
 *
 * <p>If the token supplier fails, for example because the lease is lost, nothing is sent.
 */
public final class FencingExchangeFilter implements ExchangeFilterFunction {
  private final Supplier<? extends Mono<FencingToken>> tokens;

  /**
   * Takes tokens from a supplier.
   *
   * @param tokens called once for each request, and subscribed to with its Reactor context; empty
   *     sends none
   */
  public FencingExchangeFilter(Supplier<? extends Mono<FencingToken>> tokens) {
    this.tokens = Objects.requireNonNull(tokens, "tokens");
  }

  @Override
  public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
    return Mono.<FencingToken>defer(tokens)
        .map(Optional::of)
        .defaultIfEmpty(Optional.empty())
        .flatMap(
            token ->
                token
                    .map(present -> fenced(request, next, present))
                    .orElseGet(() -> next.exchange(request)));
  }

  private static Mono<ClientResponse> fenced(
      ClientRequest request, ExchangeFunction next, FencingToken token) {
    ClientRequest marked =
        ClientRequest.from(request)
            .headers(headers -> headers.set(FencingHeader.NAME, FencingHeader.format(token)))
            .build();
    return next.exchange(marked)
        .flatMap(
            response -> {
              Optional<StaleTokenException> refusal =
                  FencingHeader.refusal(
                      response.statusCode().value(),
                      response.headers().asHttpHeaders().getFirst(FencingHeader.REFUSED_NAME),
                      String.valueOf(request.url().getAuthority()),
                      token);
              return refusal
                  .<Mono<ClientResponse>>map(
                      stale -> response.releaseBody().then(Mono.error(stale)))
                  .orElseGet(() -> Mono.just(response));
            });
  }
}
