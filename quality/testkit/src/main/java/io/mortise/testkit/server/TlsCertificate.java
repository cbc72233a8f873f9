package io.mortise.testkit.server;

import io.mortise.annotation.Beta;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Objects;

/**
 * A certificate for 127.0.0.1, and for no other address; its own authority.
 *
 * @param certificate in PEM form
 * @param key that belongs to it
 */
@Beta
public record TlsCertificate(Path certificate, Path key) {
  private static final String STORE_PASSWORD = "changeit";

  /** Makes a certificate and its key in the folder; takes a second. */
  public static TlsCertificate make(Path folder) {
    try {
      Path store = folder.resolve("keys.p12");
      ServerProcess.run(
          folder,
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
              "-genkeypair",
              "-alias",
              "server",
              "-keyalg",
              "EC",
              "-validity",
              "2",
              "-dname",
              "CN=server",
              "-ext",
              "san=ip:127.0.0.1",
              "-storetype",
              "PKCS12",
              "-storepass",
              STORE_PASSWORD,
              "-keystore",
              store.toString()));
      KeyStore keys = KeyStore.getInstance(store.toFile(), STORE_PASSWORD.toCharArray());
      return new TlsCertificate(
          write(
              folder.resolve("cert.pem"),
              "CERTIFICATE",
              keys.getCertificate("server").getEncoded()),
          write(
              folder.resolve("key.pem"),
              "PRIVATE KEY",
              Objects.requireNonNull(keys.getKey("server", STORE_PASSWORD.toCharArray()))
                  .getEncoded()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Path write(Path file, String kind, byte[] der) throws IOException {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return Files.writeString(
        file, "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n");
  }

  /** What a URL needs behind its question mark to trust the certificate. */
  public String trusted() {
    return "ca=" + URI.create("file:" + certificate).getRawPath();
  }
}
