package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.DynaliteServer;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.RedisSecurity;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Certificates that are renewed on disk while a client is open. */
@Tag("extended")
class RenewedCertificatesTest {

  @TempDir private Path folder;

  /** A server with a certificate, and a URL that uses TLS. */
  private record SecuredServer(LocalServer server, String url) implements AutoCloseable {
    @Override
    public void close() {
      server.close();
    }
  }

  private RedisSecurity made(String name) throws IOException {
    return RedisSecurity.make(Files.createDirectory(folder.resolve(name)), "", "");
  }

  /** Replaces the file atomically, like a Kubernetes secret. */
  private static void replace(Path file, String text) {
    try {
      Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".next"), text);
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static SecuredServer start(FieldStore store, Path certificate, Path key, Path ca) {
    String trusted = "?tls=true&ca=" + ca.toUri().getRawPath();
    switch (store) {
      case ETCD -> {
        EtcdServer server = EtcdServer.startWithTls(store.program(), certificate, key);
        return new SecuredServer(server, "etcd://127.0.0.1:" + server.tlsPort() + trusted);
      }
      case CONSUL -> {
        ConsulServer server = ConsulServer.startWithTls(store.program(), certificate, key);
        return new SecuredServer(server, "consul://127.0.0.1:" + server.tlsPort() + trusted);
      }
      case DYNAMODB -> {
        DynaliteServer server = DynaliteServer.startWithTls(store.program(), certificate, key);
        LockClient.connect(server.url() + "?create=true").close();
        return new SecuredServer(
            server, "dynamodb://127.0.0.1:" + server.tlsPort() + "/locks" + trusted);
      }
      case NATS -> {
        NatsServer server =
            NatsServer.start(
                store.program(), "--tls", "--tlscert", certificate + "", "--tlskey", key + "");
        return new SecuredServer(server, server.url() + trusted);
      }
      case REDIS -> {
        int port = RedisServer.freePort();
        String[] tls = new RedisSecurity(certificate, key, "", "").tls(port).toArray(String[]::new);
        return new SecuredServer(
            RedisServer.start(store.program(), tls),
            "rediss://127.0.0.1:" + port + trusted.replace("tls=true&", ""));
      }
      default -> throw new IllegalArgumentException(store + " is not tried.");
    }
  }

  @Report({
    "etcd-io/jetcd#988",
    "tikv/client-java#608",
    "valkey-io/valkey-glide#6529",
    "kubernetes-client/java#3809"
  })
  @ParameterizedTest
  @EnumSource(
      value = FieldStore.class,
      names = {"ETCD", "CONSUL", "NATS", "DYNAMODB", "REDIS"})
  void givenAuthorityThatIsReplacedInTheFileOfCa_thenAnOpenClientGoesOn(FieldStore store)
      throws Exception {
    RedisSecurity former = made("former");
    RedisSecurity next = made("next");
    String both = Files.readString(former.certificate()) + Files.readString(next.certificate());
    Path ca = Files.copy(former.certificate(), folder.resolve("ca.pem"));
    Path certificate = Files.copy(former.certificate(), folder.resolve("server.pem"));
    Path key = Files.copy(former.key(), folder.resolve("server.key"));
    try (SecuredServer server = start(store, certificate, key, ca);
        LockClient client = LockClient.connect(server.url() + "&timeout=2s")) {
      assertThat(Trial.isGranted(client, "x")).isTrue();
      replace(ca, both);
      replace(certificate, Files.readString(next.certificate()));
      replace(key, Files.readString(next.key()));
      server.server().restart();
      BoundedWait.until(
          Trial.LONG, "granted by the renewed certificate", () -> Trial.isGranted(client, "x"));
      replace(ca, Files.readString(next.certificate()));
      server.server().restart();
      BoundedWait.until(
          Trial.LONG, "granted without the former one", () -> Trial.isGranted(client, "x"));
    }
  }
}
