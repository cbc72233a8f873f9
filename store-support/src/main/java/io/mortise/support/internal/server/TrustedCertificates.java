package io.mortise.support.internal.server;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of TLS connections of stores. Trusted certificates are read from their file at
 * each handshake, so that a file may be replaced at any time. This client's own certificate is that
 * of the JVM's system properties, {@code javax.net.ssl.keyStore} and its kin.
 */
public final class TrustedCertificates {
  private static final String KEY_STORE = "javax.net.ssl.keyStore";

  /** Alerts of servers that require another certificate of this client, or any at all. */
  private static final Pattern REFUSED_CLIENT =
      Pattern.compile(
          "Received fatal alert: (?:bad_certificate|certificate_\\w+|unsupported_certificate|unknown_ca)");

  private TrustedCertificates() {}

  /**
   * The context of TLS connections. The caller makes its sockets verify the host's name.
   *
   * @param file certificates in PEM form, and no others are trusted; null for those of the JVM
   * @throws IOException if the file cannot be read, or has no certificate; or the key store cannot
   */
  public static SSLContext context(@Nullable Path file) throws IOException {
    try {
      return file == null ? SSLContext.getDefault() : context(trustManagers(file));
    } catch (GeneralSecurityException e) {
      throw unusable(e);
    }
  }

  /**
   * A context for a client library whose sockets do not verify the host's name: with this context
   * they do.
   *
   * @param file as in {@link #context}
   * @throws IOException as in {@link #context}
   */
  public static SSLContext verifyingContext(@Nullable Path file) throws IOException {
    try {
      TrustManager[] managers = file == null ? managers(null) : trustManagers(file);
      for (int i = 0; i < managers.length; i++) {
        if (managers[i] instanceof X509ExtendedTrustManager certificates) {
          managers[i] = new HostVerifier(certificates);
        }
      }
      return context(managers);
    } catch (GeneralSecurityException e) {
      throw unusable(e);
    }
  }

  private static SSLContext context(TrustManager[] trusted)
      throws IOException, GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keyManagers(), trusted, null);
    return context;
  }

  /**
   * The trust managers of these certificates, for a client library that verifies host names itself.
   *
   * @param file certificates in PEM form; no others are trusted
   * @throws IOException if the file cannot be read, or has no certificate
   */
  public static TrustManager[] trustManagers(Path file) throws IOException {
    try {
      return new TrustManager[] {new FollowedFile(file)};
    } catch (GeneralSecurityException e) {
      throw unusable(e);
    }
  }

  /**
   * Advice about a TLS connection that failed, as a sentence.
   *
   * @param otherwise the advice if the server does not refuse this client
   */
  public static String advice(Throwable failure, String otherwise) {
    return isOfClient(failure)
        ? "The server wants a certificate of this client that it trusts: set the JVM's "
            + KEY_STORE
            + " and javax.net.ssl.keyStorePassword."
        : otherwise;
  }

  /** Whether the server refuses this client's certificate, or the lack of one. */
  public static boolean isOfClient(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (REFUSED_CLIENT.matcher(String.valueOf(at.getMessage())).find()) {
        return true;
      }
    }
    return false;
  }

  private static SSLException unusable(GeneralSecurityException e) {
    return new SSLException("The trusted certificates cannot be used: " + e.getMessage(), e);
  }

  private static TrustManager[] managers(@Nullable KeyStore trusted)
      throws GeneralSecurityException {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    return trust.getTrustManagers();
  }

  /**
   * The key managers of this client's certificate, for a client library that makes its own context;
   * none if the properties of the JVM's own context are not set.
   *
   * @throws IOException if the key store cannot be used
   */
  public static KeyManager[] keyManagers() throws IOException {
    String file = System.getProperty(KEY_STORE, "");
    if (file.isEmpty()) {
      return new KeyManager[0];
    }
    try {
      return keyManagers(file);
    } catch (IOException | GeneralSecurityException e) {
      throw new SSLException("The key store of " + KEY_STORE + " cannot be used: " + e, e);
    }
  }

  private static KeyManager[] keyManagers(String file)
      throws IOException, GeneralSecurityException {
    String secret = System.getProperty(KEY_STORE + "Password", "");
    char[] password = secret.isEmpty() ? null : secret.toCharArray();
    KeyStore store =
        KeyStore.getInstance(System.getProperty(KEY_STORE + "Type", KeyStore.getDefaultType()));
    // NONE stands for a token of PKCS #11.
    try (InputStream in = file.equals("NONE") ? null : Files.newInputStream(Path.of(file))) {
      store.load(in, password);
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password);
    return keys.getKeyManagers();
  }

  /** A trust manager that delegates to another. */
  private abstract static class ForwardingTrustManager extends X509ExtendedTrustManager {
    /** The trust manager that decides now. */
    abstract X509ExtendedTrustManager certificates();

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      certificates().checkServerTrusted(chain, type, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      certificates().checkServerTrusted(chain, type, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      certificates().checkServerTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      certificates().checkClientTrusted(chain, type, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      certificates().checkClientTrusted(chain, type, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      certificates().checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return certificates().getAcceptedIssuers();
    }
  }

  /** Trusts the certificates that its file contains at the time of a handshake. */
  private static final class FollowedFile extends ForwardingTrustManager {
    private final Path file;
    private volatile FileContent latest;

    private record FileContent(String text, X509ExtendedTrustManager certificates) {}

    FollowedFile(Path file) throws IOException, GeneralSecurityException {
      this.file = file;
      this.latest = parsed(text(file));
    }

    @Override
    X509ExtendedTrustManager certificates() {
      FileContent known = latest;
      try {
        String text = text(file);
        if (!text.equals(known.text)) {
          known = parsed(text);
          latest = known;
        }
      } catch (IOException | GeneralSecurityException e) {
        // The file may be half written: its former certificates count until it can be read.
      }
      return known.certificates;
    }

    /** One character for each byte: files in DER form are read too. */
    private static String text(Path file) throws IOException {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    private FileContent parsed(String text) throws IOException, GeneralSecurityException {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (Certificate one :
          CertificateFactory.getInstance("X.509")
              .generateCertificates(
                  new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)))) {
        trusted.setCertificateEntry("trusted-" + trusted.size(), one);
      }
      if (trusted.size() == 0) {
        throw new SSLException("There is no certificate in '" + file + "'.");
      }
      for (TrustManager manager : managers(trusted)) {
        if (manager instanceof X509ExtendedTrustManager certificates) {
          return new FileContent(text, certificates);
        }
      }
      throw new SSLException("The JVM has no trust manager for certificates in PEM form.");
    }
  }

  /** Makes the JDK compare the certificate with the host of the socket. */
  private static final class HostVerifier extends ForwardingTrustManager {
    private final X509ExtendedTrustManager certificates;

    HostVerifier(X509ExtendedTrustManager certificates) {
      this.certificates = certificates;
    }

    @Override
    X509ExtendedTrustManager certificates() {
      return certificates;
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
  }
}
