package io.mortise.redis.transport;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Whom to believe that they are who they say. */
final class TrustedCertificates {
  private TrustedCertificates() {}

  /**
   * What a TLS connection needs.
   *
   * @param file certificates in PEM form, and no others are trusted; null for those of the JVM
   */
  static SSLContext context(@Nullable Path file) throws IOException {
    try {
      if (file == null) {
        return SSLContext.getDefault();
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(read(file));
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new SSLException("The trusted certificates cannot be used: " + e.getMessage(), e);
    }
  }

  private static KeyStore read(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream in = Files.newInputStream(file)) {
      int number = 0;
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("trusted-" + number++, one);
      }
    }
    if (store.size() == 0) {
      throw new SSLException("There is no certificate in '" + file + "'.");
    }
    return store;
  }
}
