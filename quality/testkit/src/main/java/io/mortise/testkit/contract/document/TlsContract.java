package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.annotation.Beta;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.TlsCertificate;
import java.nio.file.Path;
import java.time.Duration;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Locks over TLS, and the messages of failed handshakes. For an adapter whose URL has the
 * parameters {@code tls} and {@code ca}, with a server that speaks TLS on a port of its own.
 *
 * @param <S> the server
 */
@Beta
public abstract class TlsContract<S extends LocalServer> {
  @TempDir private Path folder;

  /** For subclasses. */
  protected TlsContract() {}

  /**
   * Starts a server that speaks TLS, too.
   *
   * @param certificate in PEM form, for the address 127.0.0.1
   * @param key that belongs to it
   */
  protected abstract S start(Path certificate, Path key);

  /** Its port for TLS. */
  protected abstract int tlsPort(S server);

  /** Its name in messages. */
  protected abstract String product();

  private static LockStore open(String url) {
    return LockStore.connect(StoreUrl.parse(url));
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertUnfit(String url) {
    return assertThatThrownBy(() -> open(url)).isInstanceOf(StoreUnfitException.class);
  }

  @Test
  void givenServerWithTls_thenLocksAreKeptOverIt_andEachMismatchIsTold() {
    TlsCertificate certificate = TlsCertificate.make(folder);
    String fails = "TLS to " + product() + " fails";
    try (S server = start(certificate.certificate(), certificate.key())) {
      String tls = server.url().replace(":" + server.port(), ":" + tlsPort(server));
      String trusted = "?tls=true&" + certificate.trusted();
      try (LockStore store = open(tls + trusted)) {
        SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(5), "a");
        a.hold(LockName.of("x"), Mode.EXCLUSIVE);
      }
      assertUnfit(tls + "?tls=true").hasMessageContaining(fails);
      assertThatThrownBy(() -> open(tls + "?tls=true&ca=" + certificate.key()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("without a private key");
      assertUnfit(tls.replace("127.0.0.1", "localhost") + trusted).hasMessageContaining(fails);
      assertUnfit(tls).hasMessageContaining("Add tls=true");
      // The server answers in plain text, or closes the connection.
      assertUnfit(server.url() + trusted)
          .hasMessageMatching(".*(" + fails + "|does not speak TLS).*");
    }
  }
}
