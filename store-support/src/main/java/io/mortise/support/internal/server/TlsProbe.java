package io.mortise.support.internal.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntPredicate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Detects whether a server speaks TLS, for stores whose client library cannot tell a TLS mismatch
 * from a server that is down. Each probe has a connection of its own.
 */
public final class TlsProbe {
  /** The types of the first record that a TLS server sends (RFC 8446, section 5.1). */
  private static final int TLS_ALERT = 0x15;

  private static final int TLS_HANDSHAKE = 0x16;

  private TlsProbe() {}

  /** The answer of a server to a probe. */
  public enum ProbeAnswer {
    /** It speaks the protocol of the probe. */
    YES,
    /** It closes the connection, or answers otherwise. */
    NO,
    /** It is unreachable, or does not answer in time. */
    NONE
  }

  /**
   * Whether the server answers a TLS handshake. Blocks, for twice the limit at most.
   *
   * @param limit the limit of connecting, and of the answer
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
   * The reason why a server ends a connection after the handshake; empty if it does not, or gives
   * no reason. Only the handshake is sent, so that the server's reason arrives. Blocks, for three
   * times the limit at most.
   *
   * @param ca see {@link TrustedCertificates#context}
   * @param limit the limit of connecting, and of each answer
   * @param greets whether the server first sends a line without TLS
   */
  public static Optional<SSLException> refusal(
      InetSocketAddress server, @Nullable Path ca, Duration limit, boolean greets) {
    int millis = Math.max(1, Math.toIntExact(limit.toMillis()));
    try (Socket plain = new Socket(Proxy.NO_PROXY)) {
      plain.connect(server, millis);
      plain.setSoTimeout(millis);
      for (int next = greets ? 0 : '\n'; next != '\n' && next >= 0; ) {
        next = plain.getInputStream().read();
      }
      Socket secured =
          TrustedCertificates.context(ca)
              .getSocketFactory()
              .createSocket(plain, server.getHostString(), server.getPort(), true);
      var unused = secured.getInputStream().read();
      return Optional.empty();
    } catch (SSLException e) {
      return Optional.of(e);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Sends a probe, and judges the answer by its first byte. Blocks, for twice the limit at most.
   *
   * @param question the probe, sent without TLS
   * @param isYes whether a first byte means {@link ProbeAnswer#YES}
   * @param limit the limit of connecting, and of the answer
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
        // A reset: the server closed the connection without reading the probe.
        return ProbeAnswer.NO;
      }
    } catch (IOException e) {
      return ProbeAnswer.NONE;
    }
  }
}
