package io.mortise.http;

import io.mortise.FencingToken;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Sends a fencing token with each request of a {@code RestClient} or {@code RestTemplate}, and
 * throws {@link io.mortise.StaleTokenException} if the server's guard refused it. With {@code
 * mortise-spring} the token is that of {@code LockContext}. Thread-safe.
 *
 * <p>If the token supplier fails, for example because the lease is lost, nothing is sent.
 */
public final class FencingRequestInterceptor implements ClientHttpRequestInterceptor {
  private final Supplier<Optional<FencingToken>> tokens;

  /**
   * Takes tokens from a supplier.
   *
   * @param tokens called on the calling thread, once for each request; empty sends none
   */
  public FencingRequestInterceptor(Supplier<Optional<FencingToken>> tokens) {
    this.tokens = Objects.requireNonNull(tokens, "tokens");
  }

  /**
   * {@inheritDoc}
   *
   * @throws io.mortise.StaleTokenException if the server's guard refused the token
   * @throws io.mortise.LeaseLostException if the lease behind the token is lost; nothing was sent
   */
  @Override
  public ClientHttpResponse intercept(
      HttpRequest request, byte[] body, ClientHttpRequestExecution execution) throws IOException {
    Optional<FencingToken> token = tokens.get();
    if (token.isEmpty()) {
      return execution.execute(request, body);
    }
    request.getHeaders().set(FencingHeader.NAME, FencingHeader.format(token.get()));
    ClientHttpResponse response = execution.execute(request, body);
    boolean refused = true;
    try {
      FencingHeader.refusal(
              response.getStatusCode().value(),
              response.getHeaders().getFirst(FencingHeader.REFUSED_NAME),
              String.valueOf(request.getURI().getAuthority()),
              token.get())
          .ifPresent(
              refusal -> {
                throw refusal;
              });
      refused = false;
      return response;
    } finally {
      if (refused) {
        response.close();
      }
    }
  }
}
