package io.mortise.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;

/**
 * Security of Redis servers: TLS and passwords, also between servers and Sentinels.
 *
 * @param certificate self-signed, for 127.0.0.1 only
 * @param key that belongs to it
 * @param password of the servers
 * @param sentinelPassword of the Sentinels
 */
public record RedisSecurity(Path certificate, Path key, String password, String sentinelPassword) {
  private static final String STORE_PASSWORD = "changeit";

  /** Makes a certificate and its key in the folder; takes a second. */
  public static RedisSecurity make(Path folder, String password, String sentinelPassword) {
    try {
      Path store = folder.resolve("keys.p12");
      ServerProcess.run(
          folder,
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
              "-genkeypair",
              "-alias",
              "redis",
              "-keyalg",
              "EC",
              "-validity",
              "2",
              "-dname",
              "CN=redis",
              "-ext",
              "san=ip:127.0.0.1",
              "-storetype",
              "PKCS12",
              "-storepass",
              STORE_PASSWORD,
              "-keystore",
              store.toString()));
      KeyStore keys = KeyStore.getInstance(store.toFile(), STORE_PASSWORD.toCharArray());
      return new RedisSecurity(
          write(
              folder.resolve("cert.pem"), "CERTIFICATE", keys.getCertificate("redis").getEncoded()),
          write(
              folder.resolve("key.pem"),
              "PRIVATE KEY",
              Objects.requireNonNull(keys.getKey("redis", STORE_PASSWORD.toCharArray()))
                  .getEncoded()),
          password,
          sentinelPassword);
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

  /** Options of {@code redis-server} for TLS on this port. */
  public List<String> tls(int port) {
    return List.of(
        "--tls-port",
        Integer.toString(port),
        "--tls-cert-file",
        certificate.toString(),
        "--tls-key-file",
        key.toString(),
        "--tls-ca-cert-file",
        certificate.toString(),
        "--tls-auth-clients",
        "no");
  }

  /** Options of {@code redis-server} that require all this from clients and other servers. */
  List<String> ofServers(int tlsPort) {
    List<String> arguments = new ArrayList<>(tls(tlsPort));
    arguments.addAll(List.of("--tls-replication", "yes", "--tls-cluster", "yes"));
    arguments.addAll(List.of("--requirepass", password, "--masterauth", password));
    return arguments;
  }

  /** The same for Sentinels, as in their file. */
  String ofSentinels(int tlsPort, String master) {
    StringBuilder lines = new StringBuilder();
    List<String> words = tls(tlsPort);
    for (int i = 0; i < words.size(); i += 2) {
      lines.append(words.get(i).substring(2)).append(' ').append(words.get(i + 1)).append('\n');
    }
    return lines
        .append("tls-replication yes\n")
        .append("requirepass \"%s\"\n".formatted(sentinelPassword))
        .append("sentinel sentinel-pass \"%s\"\n".formatted(sentinelPassword))
        .append("sentinel auth-pass %s \"%s\"\n".formatted(master, password))
        .toString();
  }

  /** URL parameters that trust the certificate. */
  public String trusted() {
    return "ca=" + URI.create("file:" + certificate).getRawPath();
  }
}
