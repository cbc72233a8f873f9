package io.mortise.testserver;

import io.mortise.testkit.server.TlsCertificate;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Security of Redis servers: TLS and passwords, also between servers and Sentinels.
 *
 * @param certificate self-signed, for 127.0.0.1 only
 * @param key that belongs to it
 * @param password of the servers
 * @param sentinelPassword of the Sentinels
 */
public record RedisSecurity(Path certificate, Path key, String password, String sentinelPassword) {
  /** Makes a certificate and its key in the folder; takes a second. */
  public static RedisSecurity make(Path folder, String password, String sentinelPassword) {
    TlsCertificate made = TlsCertificate.make(folder);
    return new RedisSecurity(made.certificate(), made.key(), password, sentinelPassword);
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
    return new TlsCertificate(certificate, key).trusted();
  }
}
