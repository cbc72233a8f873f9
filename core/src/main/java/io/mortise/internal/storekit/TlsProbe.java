package io.mortise.internal.storekit;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;
import java.util.function.IntPredicate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * Finds out whether a server speaks TLS, for stores whose client library cannot tell a TLS mismatch
 * from a server that is down. Each question has a connection of its own.
 */
public final class TlsProbe {
  /** The types of the first record that a TLS server sends (RFC 8446, section 5.1). */
  private static final int TLS_ALERT = 0x15;

  private static final int TLS_HANDSHAKE = 0x16;

  private static final byte[] HTTP_REQUEST =
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private TlsProbe() {}

  /** What a server answers to a question. */
  public enum ProbeAnswer {
    /** It speaks what it was asked in. */
    YES,
    /** It closes the connection, or answers something else. */
    NO,
    /** It cannot be reached, or answers nothing in time. */
    NONE
  }

  /**
   * Whether the server answers a TLS handshake. Blocks, for twice the limit at most.
   *
   * @param limit of connecting, and of the answer
   */
  public static ProbeAnswer askInTls(InetSocketAddress server, Duration limit) {
    byte[] hello;
    try {
      SSLEngine client = SSLContext.getDefault().createSSLEngine();
      client.setUseClientMode(true);
      ByteBuffer record = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
      client.wrap(ByteBuffer.allocate(0), record);
      hello = Arrays.copyOf(record.array(), record.position());
    } catch (IOException | GeneralSecurityException e) {
      return ProbeAnswer.NONE;
    }
    return ask(server, hello, first -> first == TLS_ALERT || first == TLS_HANDSHAKE, limit);
  }

  /**
   * Explains why the first request has failed. Blocks, for each server for four times the target's
   * timeout at most; not at all if the failure is a timeout.
   *
   * @return the failure itself, or another one if a server and the URL do not agree on TLS
   */
  public static RuntimeException explained(HttpTarget target, StoreUnavailableException failure) {
    boolean isMismatch =
        !isTimeout(failure)
            && target.servers().stream()
                .filter(server -> server.getHost() != null)
                .map(server -> new InetSocketAddress(server.getHost(), server.getPort()))
                .anyMatch(server -> isMismatch(target, server));
    if (!isMismatch) {
      return failure;
    }
    String found =
        target.isTls()
            ? "%s does not speak TLS on this port, and the URL asks for it (store=%s). Leave tls=true out, or give the port for TLS."
            : "%s speaks TLS, and the URL does not (store=%s). Add tls=true.";
    return new StoreUnfitException(
        found.formatted(target.startOfSentence(), target.display()), failure);
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
    ProbeAnswer inTls = askInTls(server, target.timeout());
    // Some servers with TLS answer plain HTTP with a refusal: so that alone says nothing.
    return target.isTls()
        ? inTls == ProbeAnswer.NO
            && ask(server, HTTP_REQUEST, first -> first == 'H', target.timeout()) == ProbeAnswer.YES
        : inTls == ProbeAnswer.YES;
  }

  /**
   * Sends a question, and judges the answer by its first byte. Blocks, for twice the limit at most.
   *
   * @param question sent without TLS
   * @param isYes whether a first byte means {@link ProbeAnswer#YES}
   * @param limit of connecting, and of the answer
   */
  public static ProbeAnswer ask(
      InetSocketAddress server, byte[] question, IntPredicate isYes, Duration limit) {
    int millis = Math.max(1, Math.toIntExact(limit.toMillis()));
    try (Socket probe = new Socket(Proxy.NO_PROXY)) {
      probe.connect(server, millis);
      probe.setSoTimeout(millis);
      try {
        probe.getOutputStream().write(question);
        int first = probe.getInputStream().read();
        return first >= 0 && isYes.test(first) ? ProbeAnswer.YES : ProbeAnswer.NO;
      } catch (SocketTimeoutException e) {
        return ProbeAnswer.NONE;
      } catch (IOException e) {
        // A reset: the server closed the connection with the question unread.
        return ProbeAnswer.NO;
      }
    } catch (IOException e) {
      return ProbeAnswer.NONE;
    }
  }
}
