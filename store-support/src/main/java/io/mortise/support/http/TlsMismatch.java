package io.mortise.support.http;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.support.internal.server.TlsProbe;
import io.mortise.support.internal.server.TlsProbe.ProbeAnswer;
import io.mortise.support.internal.server.TrustedCertificates;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Detects whether a request has failed because only one side speaks TLS. */
public final class TlsMismatch {
  private static final byte[] HTTP_REQUEST =
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private TlsMismatch() {}

  /**
   * Explains why the first request has failed. Blocks, for each server for seven times the target's
   * timeout at most; not at all if the failure is a timeout.
   *
   * @return the failure itself, or another one if a server and the URL do not agree on TLS, or a
   *     server requires another certificate of this client
   */
  public static RuntimeException explained(HttpTarget target, StoreUnavailableException failure) {
    boolean isMismatch =
        !isTimeout(failure) && addresses(target).anyMatch(server -> isMismatch(target, server));
    if (!isMismatch) {
      return isTimeout(failure) || !target.isTls() ? failure : refusedOrSame(target, failure);
    }
    String found =
        target.isTls()
            ? "%s does not speak TLS on this port, and the URL asks for it (store=%s). Leave tls=true out, or give the port for TLS."
            : "%s speaks TLS, and the URL does not (store=%s). Add tls=true.";
    return new StoreUnfitException(
        found.formatted(target.startOfSentence(), target.display()), failure);
  }

  private static Stream<InetSocketAddress> addresses(HttpTarget target) {
    return target.servers().stream()
        .map(HttpTarget::address)
        .map(server -> new InetSocketAddress(server.getHostString(), server.getPort()));
  }

  /**
   * A server reports after the handshake of TLS 1.3 that it requires another certificate. That
   * report is lost if a request meets the end of the connection.
   */
  private static RuntimeException refusedOrSame(
      HttpTarget target, StoreUnavailableException failure) {
    return addresses(target)
        .map(server -> TlsProbe.refusal(server, target.ca(), target.timeout(), false))
        .flatMap(Optional::stream)
        .filter(TrustedCertificates::isOfClient)
        .findFirst()
        .map(target::translated)
        .orElse(failure);
  }

  private static boolean isTimeout(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof SocketTimeoutException || at instanceof TimeoutException) {
        return true;
      }
    }
    return false;
  }

  private static boolean isMismatch(HttpTarget target, InetSocketAddress server) {
    ProbeAnswer inTls = TlsProbe.askInTls(server, target.timeout());
    // Some servers with TLS answer plain HTTP with a refusal: so that alone proves nothing.
    return target.isTls()
        ? inTls == ProbeAnswer.NO
            && TlsProbe.ask(server, HTTP_REQUEST, first -> first == 'H', target.timeout())
                == ProbeAnswer.YES
        : inTls == ProbeAnswer.YES;
  }
}
