package io.mortise.testserver;

import io.mortise.testkit.server.TlsCertificate;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What Redis servers ask of who wants in: TLS, and passwords. Servers and Sentinels talk to each
 * other in the same way.
 *
 * @param certificate for 127.0.0.1, and for nobody else; its own authority
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

  /** What makes a server speak TLS on this port, as on the command line of {@code redis-server}. */
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

  /** What makes a server of several ask for all this, of clients and of each other. */
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

  /** What a URL needs behind its question mark to trust the certificate. */
  public String trusted() {
    return new TlsCertificate(certificate, key).trusted();
  }
}
