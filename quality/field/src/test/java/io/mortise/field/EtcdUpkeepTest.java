package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Maintenance of etcd while clients are open: users, tokens, members. */
@Tag("extended")
class EtcdUpkeepTest {
  private static final Duration TTL = Duration.ofSeconds(15);

  @TempDir private Path folder;

  private static String base64(String text) {
    return '"' + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)) + '"';
  }

  private static void addUser(EtcdServer server, String name) {
    server.post("/v3/auth/user/add", "{\"name\":\"%s\",\"password\":\"p\"}".formatted(name));
  }

  /** Starts a server with root and a user that may access the keys of locks. */
  private static EtcdServer secured(String... arguments) {
    EtcdServer server = EtcdServer.start(FieldStore.ETCD.program(), arguments);
    addUser(server, "root");
    addUser(server, "me");
    for (String role : List.of("root", "locks")) {
      server.post("/v3/auth/role/add", "{\"name\":\"" + role + "\"}");
    }
    server.post(
        "/v3/auth/role/grant",
        "{\"name\":\"locks\",\"perm\":{\"permType\":\"READWRITE\",\"key\":%s,\"range_end\":%s}}"
            .formatted(base64("/mortise/"), base64("/mortise0")));
    server.post("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    server.post("/v3/auth/user/grant", "{\"user\":\"me\",\"role\":\"locks\"}");
    assertThat(server.post("/v3/auth/enable", "{}")).contains("200 OK");
    return server;
  }

  private static String url(EtcdServer server) {
    return server.url().replace("//", "//me:p@");
  }

  /** Changes users as root, which authenticates by a token. */
  private static void changeUsers(EtcdServer server) throws Exception {
    String token =
        server
            .post("/v3/auth/authenticate", "{\"name\":\"root\",\"password\":\"p\"}")
            .replaceFirst("(?s).*\"token\":\"([^\"]*)\".*", "$1");
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.port() + "/v3/auth/user/add"))
            .header("Authorization", token)
            .POST(BodyPublishers.ofString("{\"name\":\"new\",\"password\":\"p\"}"))
            .build();
    assertThat(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode())
        .isEqualTo(200);
  }

  private Path pem(String kind, byte[] der) throws IOException {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return Files.writeString(
        folder.resolve(kind.replace(' ', '-') + ".pem"),
        "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n");
  }

  @Test
  @Report({
    "etcd-io/jetcd#1344",
    "etcd-io/etcd#13300",
    "etcd-io/jetcd#1103",
    "patroni/patroni#2911"
  })
  void givenTokensOfJwt_whenAnotherUserIsAdded_thenLocksGoOn_andTheLeaseIsKept() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    KeyPair keys = generator.generateKeyPair();
    String tokens =
        "jwt,pub-key=%s,priv-key=%s,sign-method=RS256,ttl=1h"
            .formatted(
                pem("PUBLIC KEY", keys.getPublic().getEncoded()),
                pem("PRIVATE KEY", keys.getPrivate().getEncoded()));
    try (EtcdServer server = secured("--auth-token", tokens);
        LockClient client = LockClient.builder().url(url(server) + "?timeout=1s").ttl(TTL).build();
        LockClient second = LockClient.connect(url(server) + "?timeout=1s")) {
      Lease lease = client.lock("held").acquireWithin(Trial.LONG);
      CompletableFuture<Lease> waiting =
          second.lock("held").acquireAsync(Trial.LONG.multipliedBy(2));
      changeUsers(server);
      BoundedWait.until(
          Trial.LONG, "granted with another token", () -> Trial.isGranted(client, "other"));
      BoundedWait.until(
          Trial.LONG, "renewed", () -> lease.remaining().compareTo(TTL.dividedBy(2)) > 0);
      lease.close();
      assertThat(waiting).succeedsWithin(Trial.LONG);
    }
  }

  @Test
  @Report({
    "etcd-io/jetcd#177",
    "etcd-io/jetcd#1060",
    "etcd-io/etcd#8287",
    "etcd-cpp-apiv3/etcd-cpp-apiv3#107",
    "etcd-io/etcd#7012",
    "etcd-io/etcd#13134",
    "api7/aisix#1136",
    "etcd-io/jetcd#1118"
  })
  void givenTokensThatEndSoon_whenTheyHaveEnded_thenTheLeaseIsKept_andHandedOn() throws Exception {
    try (EtcdServer server = secured("--auth-token-ttl", "1");
        LockClient client =
            LockClient.builder().url(url(server)).ttl(Duration.ofSeconds(9)).build();
        LockClient second = LockClient.connect(url(server))) {
      Lease lease = client.lock("held").acquireWithin(Trial.LONG);
      CompletableFuture<Lease> waiting =
          second.lock("held").acquireAsync(Trial.LONG.multipliedBy(2));
      // Renewals are three seconds apart, and the token of each has ended before the next.
      BoundedWait.pass(Duration.ofSeconds(10));
      lease.ensureValid();
      server.restart();
      BoundedWait.until(Trial.LONG, "renewed", () -> lease.remaining().toSeconds() >= 7);
      lease.close();
      assertThat(waiting).succeedsWithin(Trial.LONG);
    }
  }

  @Test
  @Report({
    "etcd-io/etcd#13853",
    "etcd-io/etcd#12789",
    "kubernetes/kubeadm#3287",
    "ahrtr/etcd-defrag#26"
  })
  void givenLearnerAmongTheHosts_thenTheOthersServe_alsoWhenItComesFirst() {
    Path program = FieldStore.ETCD.program();
    String peers = "http://127.0.0.1:" + RedisServer.freePort();
    String learnersPeers = "http://127.0.0.1:" + RedisServer.freePort();
    try (EtcdServer voter = EtcdServer.start(program, member("voter", peers, "voter=" + peers))) {
      voter.post(
          "/v3/cluster/member/add",
          "{\"peerURLs\":[\"" + learnersPeers + "\"],\"isLearner\":true}");
      try (EtcdServer learner =
              EtcdServer.start(
                  program,
                  member(
                      "learner",
                      learnersPeers,
                      "voter=" + peers + ",learner=" + learnersPeers,
                      "--initial-cluster-state",
                      "existing"));
          LockClient client =
              LockClient.connect(learner.url() + ",127.0.0.1:" + voter.port() + "?timeout=2s")) {
        assertThat(client.lock("x").tryAcquire()).isPresent();
        voter.restart();
        BoundedWait.until(Trial.LONG, "granted", () -> Trial.isGranted(client, "other"));
      }
    }
  }

  private static String[] member(String name, String peers, String cluster, String... more) {
    String[] all = {
      "--name", name,
      "--listen-peer-urls", peers,
      "--initial-advertise-peer-urls", peers,
      "--initial-cluster", cluster
    };
    return Stream.concat(Arrays.stream(all), Arrays.stream(more)).toArray(String[]::new);
  }
}
