package io.mortise.internal.storekit;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** The certificates that TLS connections of stores trust. */
public final class TrustedCertificates {
  private TrustedCertificates() {}

  /**
   * The context of TLS connections. The caller makes its sockets verify the host's name.
   *
   * @param file certificates in PEM form, and no others are trusted; null for those of the JVM
   * @throws IOException if the file cannot be read, or has no certificate
   */
  public static SSLContext context(@Nullable Path file) throws IOException {
    try {
      if (file == null) {
        return SSLContext.getDefault();
      }
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers(file), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw unusable(e);
    }
  }

  /**
   * The same for a client library whose sockets do not verify the host's name: with this context
   * they do.
   *
   * @param file as in {@link #context}
   * @throws IOException if the file cannot be read, or has no certificate
   */
  public static SSLContext verifyingContext(@Nullable Path file) throws IOException {
    try {
      TrustManager[] managers = managers(file);
      for (int i = 0; i < managers.length; i++) {
        if (managers[i] instanceof X509ExtendedTrustManager certificates) {
          managers[i] = new HostVerifier(certificates);
        }
      }
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw unusable(e);
    }
  }

  /**
   * The trust managers of these certificates, for a client library that verifies host names itself.
   *
   * @param file certificates in PEM form, and no others are trusted
   * @throws IOException if the file cannot be read, or has no certificate
   */
  public static TrustManager[] trustManagers(Path file) throws IOException {
    try {
      return managers(file);
    } catch (GeneralSecurityException e) {
      throw unusable(e);
    }
  }

  private static SSLException unusable(GeneralSecurityException e) {
    return new SSLException("The trusted certificates cannot be used: " + e.getMessage(), e);
  }

  private static TrustManager[] managers(@Nullable Path file)
      throws IOException, GeneralSecurityException {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(file == null ? null : read(file));
    return trust.getTrustManagers();
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

  /** Has the JDK compare the certificate with the host that the socket was made for. */
  private static final class HostVerifier extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager certificates;

    HostVerifier(X509ExtendedTrustManager certificates) {
      this.certificates = certificates;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      if (!(socket instanceof SSLSocket tls)) {
        throw new CertificateException("The host's name cannot be verified.");
      }
      SSLParameters parameters = tls.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      tls.setSSLParameters(parameters);
      certificates.checkServerTrusted(chain, type, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
      certificates.checkServerTrusted(chain, type, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      throw new CertificateException("The host's name cannot be verified.");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      certificates.checkClientTrusted(chain, type, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      certificates.checkClientTrusted(chain, type, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      certificates.checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return certificates.getAcceptedIssuers();
    }
  }
}
