package io.mortise.etcd;

import io.mortise.StoreUnfitException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Certificates that a server's own has to be signed by. */
final class EtcdCertificates {
  private EtcdCertificates() {}

  /**
   * A context for TLS.
   *
   * @param ca a file in PEM form; null for the certificates of the JVM
   * @throws StoreUnfitException if the file has no certificates
   */
  static SSLContext context(@Nullable Path ca) {
    try {
      if (ca == null) {
        return SSLContext.getDefault();
      }
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      try (InputStream file = Files.newInputStream(ca)) {
        int count = 0;
        for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
          trusted.setCertificateEntry("ca" + count++, one);
        }
      }
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new StoreUnfitException(
          "Cannot read certificates from '" + ca + "': " + e.getMessage() + ".", e);
    }
  }
}
