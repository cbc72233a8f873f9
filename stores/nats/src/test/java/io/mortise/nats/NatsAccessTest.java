package io.mortise.nats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.RedisSecurity;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.NKey;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients that NATS lets in, messages for others, and reports about NATS. */
class NatsAccessTest {
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final LockName LOCK = LockName.of("x");

  /** For clients that are refused: the library waits for all of it even then. */
  private static final String SHORT = "?timeout=500ms";

  @TempDir private Path folder;

  private static void assertLocks(String url) {
    try (LockStore store = NatsStore.open(url)) {
      assertLocks(store);
    }
  }

  private static void assertLocks(LockStore store) {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    a.end(LOCK, a.hold(LOCK, Mode.EXCLUSIVE).attempt());
  }

  private static void assertUnfit(String url, String message) {
    assertThatThrownBy(() -> NatsStore.open(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("s3c");
  }

  private NatsServer configured(String text) throws Exception {
    return NatsServers.start("-c", configure(text).toString());
  }

  private Path configure(String text) throws Exception {
    return Files.writeString(folder.resolve("nats.conf"), text);
  }

  @Test
  void givenUsersAndKeys_thenThoseWhoMayAreLetIn_andTheOthersAreToldWhatIsMissing()
      throws Exception {
    NKey key = NKey.createUser(null);
    String seed = new String(key.getSeed());
    String users =
        """
        authorization { users = [
          { user: me, password: "s3c/r@t", permissions: {
              publish: ["$KV.mortise-shop.>", "$JS.API.STREAM.MSG.GET.KV_mortise-shop",
                        "$JS.API.STREAM.INFO.KV_mortise-shop",
                        "$JS.API.STREAM.CREATE.KV_mortise-shop"],
              subscribe: ["_INBOX.>", "mortise-shop.session.>"] } },
          { user: reader, password: "s3c/r@t", permissions: {
              publish: ["$JS.API.STREAM.*.KV_mortise-shop"], subscribe: ["_INBOX.>"] } },
          { nkey: %s }
        ] }
        """
            .formatted(new String(key.getPublicKey()));
    try (NatsServer server = configured(users)) {
      String me = server.url().replace("//", "//me:s3c%2Fr%40t@") + "?timeout=500ms&namespace=";
      assertLocks(me + "shop");
      assertUnfit(me + "mine", "does not let this user use bucket 'mortise-mine'");
      assertUnfit(me.replace("me:", "reader:") + "shop", "does not let this user use bucket");
      assertUnfit(me.replace("me:", "me:s3c") + "shop", "refuses the credentials");
      assertUnfit(server.url() + SHORT, "refuses the credentials");
      assertUnfit(server.url().replace("//", "//s3cret@") + SHORT, "refuses the credentials");

      Path seedFile = Files.writeString(folder.resolve("seed"), seed + "\n");
      assertLocks(server.url() + "?nkey=" + seedFile);
      assertLocks(server.url() + "?credentials=" + credentials(seed));
      Path none = Files.writeString(folder.resolve("none"), "s3cret");
      assertUnfit(server.url() + "?nkey=" + none, "has no key");
    }
  }

  @Test
  void givenServersThatCannotBeReached_thenItIsSaidWhy() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String url = "nats://127.0.0.1:" + silent.getLocalPort() + "?timeout=200ms";
      assertThatThrownBy(() -> NatsStore.open(url))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining(": it did not answer within 200ms. Check host and port");
    }
    // Nobody listens on the port of TCP's multiplexer.
    assertThatThrownBy(() -> NatsStore.open("nats://127.0.0.1:1"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("refused. Check host and port");
    assertThatThrownBy(() -> NatsStore.open("nats://nowhere.invalid"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(": unknown host. Check host and port");
  }

  /** The library closes a connection that was refused twice. */
  @Test
  void givenServerThatRefusesForAWhile_whenItTakesTheUserAgain_thenTheStoreGoesOn_withPushes()
      throws Exception {
    String users = "max_payload: 4096, authorization { user: me, password: %s }";
    try (NatsServer server = configured(users.formatted("s3cret"));
        LockStore store =
            NatsStore.open(server.url().replace("//", "//me:s3cret@") + "?timeout=500ms")) {
      SessionDriver a = SessionDriver.open(store, TTL, "a");
      SessionDriver b = SessionDriver.open(store, TTL, "b");
      configure(users.formatted("another"));
      server.restart();
      BoundedWait.until(LONG, "refused", () -> isRefused(a));
      configure(users.formatted("s3cret"));
      server.restart();
      BoundedWait.until(LONG, "renewed", () -> a.renew() instanceof Renewal.Renewed);
      a.hold(LOCK, Mode.EXCLUSIVE);
      b.queued(LOCK, Mode.EXCLUSIVE);
      BoundedWait.until(LONG, "told", () -> !a.hints().all().isEmpty());
      assertThat(store.replaceFact(LOCK, 0, "x".repeat(8_000), TTL))
          .failsWithin(LONG)
          .withThrowableThat()
          .withMessageContaining("takes no request")
          .withMessageNotContaining("credentials");
    }
  }

  private static boolean isRefused(SessionDriver session) {
    return session.renew() instanceof Renewal.Unknown unknown
        && String.valueOf(unknown.cause().getMessage()).contains("refuses the credentials");
  }

  private Path credentials(String seed) throws Exception {
    return Files.writeString(
        folder.resolve("user.creds"),
        """
        -----BEGIN NATS USER JWT-----
        e30.e30.e30
        ------END NATS USER JWT------

        -----BEGIN USER NKEY SEED-----
        %s
        ------END USER NKEY SEED------
        """
            .formatted(seed));
  }

  @Test
  void givenToken_thenItLetsIn_andAnotherDoesNot() throws Exception {
    try (NatsServer server = configured("authorization { token: \"s3c/r@t\" }")) {
      assertLocks(server.url().replace("//", "//s3c%2Fr%40t@"));
      assertUnfit(server.url().replace("//", "//s3c@") + SHORT, "refuses the credentials");
    }
  }

  @Test
  void givenServerWithTls_thenLocksAreKeptOverIt_andEachMismatchIsTold() {
    RedisSecurity made = RedisSecurity.make(folder, "", "");
    String certificate = made.certificate().toString();
    try (NatsServer server =
        NatsServers.start("--tls", "--tlscert", certificate, "--tlskey", made.key().toString())) {
      String trusted = "?tls=true&" + made.trusted();
      assertLocks(server.url() + trusted);
      assertUnfit(server.url() + "?tls=true", "TLS to NATS fails");
      assertThatThrownBy(() -> NatsStore.open(server.url() + "?tls=true&ca=" + made.key()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("without a private key");
      assertUnfit("nats://localhost:" + server.port() + trusted, "TLS to NATS fails");
      assertUnfit(server.url(), "Add tls=true");
      assertUnfit(
          NatsServers.shared().url() + trusted,
          "NATS does not speak TLS on this port, and the URL asks for it");
    }
  }

  /** A server that reads a higher limit tells new connections alone. */
  @Test
  void givenConnectionThatWasToldALowerMaxPayload_whenNewOnesAreToldAHigher_thenRequestsAreTaken()
      throws Exception {
    try (ServerSocket relay = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      start(() -> relay(relay, NatsServers.shared().port()));
      String url = "nats://127.0.0.1:" + relay.getLocalPort();
      try (LockStore store = NatsStore.open(url + "?namespace=" + NatsServers.namespace())) {
        assertThat(isTaken(store)).isFalse();
        BoundedWait.until(LONG, "taken", () -> isTaken(store));
      }
    }
  }

  private interface SocketTask {
    void run() throws IOException;
  }

  private static void start(SocketTask task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException e) {
                // One side has closed.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  /** The first connection is told that the server takes 4,096 bytes. */
  private static void relay(ServerSocket relay, int port) throws IOException {
    for (String told = "4096"; ; told = "1048576") {
      Socket client = relay.accept();
      Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
      byte[] buffer = new byte[8_192];
      String info = new String(buffer, 0, server.getInputStream().read(buffer), UTF_8);
      client
          .getOutputStream()
          .write(
              info.replaceFirst("\"max_payload\":\\d+", "\"max_payload\":" + told).getBytes(UTF_8));
      start(() -> forward(client, server));
      start(() -> forward(server, client));
    }
  }

  private static void forward(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    }
  }

  private static boolean isTaken(LockStore store) {
    return BoundedWait.join(
        store
            .replaceFact(LOCK, 0, "x".repeat(8_000), TTL)
            .handle((written, failure) -> failure == null));
  }

  @Test
  void givenAccountWhoseJetStreamIsSwitchedOff_thenItIsAnOutage_andNoOtherClientIsLetIn()
      throws Exception {
    String account = "accounts { A { jetstream: %s, users: [{ user: me, password: s3cret }] } }";
    String off = "JetStream is not enabled";
    try (NatsServer server = configured(account.formatted("enabled"))) {
      String url = server.url().replace("//", "//me:s3cret@") + "?timeout=1s";
      try (LockClient client = LockClient.connect(url)) {
        configure(account.formatted("disabled"));
        server.restart();
        BoundedWait.until(LONG, "told", () -> refusal(client).contains(off));
        CompletableFuture<Lease> wait = client.lock("x").acquireAsync(LONG);
        assertThatThrownBy(() -> client.lock("y").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining(off);
        assertUnfit(url, off);
        assertThat(wait).isNotDone();
        configure(account.formatted("enabled"));
        server.restart();
        assertThat(wait).succeedsWithin(LONG);
      }
    }
  }

  private static String refusal(LockClient client) {
    try {
      return String.valueOf(client.lock("y").tryAcquire());
    } catch (LockException e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Test
  void givenServerWithoutJetStream_thenOpeningSaysSo() {
    Path program = TestPrerequisites.required(NatsServer.installed(), "The program nats-server");
    try (NatsServer server = NatsServer.startWithoutJetStream(program)) {
      assertUnfit(server.url(), "JetStream is not enabled");
    }
  }

  @Test
  void givenBucketOfSomebodyElse_thenItIsRefusedUnlessLocksAreSafeThere() throws Exception {
    assertRefused("is kept in memory", made -> made.storageType(StorageType.Memory));
    assertRefused("drops what is older than 1h", made -> made.maxAge(Duration.ofHours(1)));
    assertRefused("drops locks when it is full", made -> made.discardPolicy(DiscardPolicy.Old));
    assertRefused("does not republish", made -> made.republish(null));
  }

  /** Of a cluster of three, with 2.9.10, one write in four had a twin. */
  @Test
  void givenBucketWithReplicas_thenItIsRefused() throws Exception {
    List<Integer> ports = freePorts(3);
    String routes =
        ports.stream().map(port -> "nats://127.0.0.1:" + port).collect(Collectors.joining(","));
    List<NatsServer> members = new ArrayList<>();
    try {
      for (int port : ports) {
        members.add(
            NatsServers.start(
                "-n",
                "n" + port,
                "-cluster_name",
                "c",
                "-cluster",
                "nats://127.0.0.1:" + port,
                "-routes",
                routes));
      }
      NatsServer one = members.get(0);
      StreamConfiguration bucket =
          StreamConfiguration.builder()
              .name("KV_mortise-shop")
              .subjects("$KV.mortise-shop.>")
              .storageType(StorageType.File)
              .discardPolicy(DiscardPolicy.New)
              .replicas(3)
              .build();
      try (NatsOperator operator = NatsOperator.of(one)) {
        BoundedWait.until(LONG, "the bucket was made", () -> makes(operator, bucket));
      }
      assertUnfit(one.url() + "?namespace=shop", "has 3 replicas");
    } finally {
      members.forEach(NatsServer::close);
    }
  }

  /** Not before the servers have elected a leader. */
  private static boolean makes(NatsOperator operator, StreamConfiguration bucket) {
    try {
      operator.streams().addStream(bucket);
      return true;
    } catch (IOException | JetStreamApiException e) {
      return false;
    }
  }

  private static List<Integer> freePorts(int count) throws IOException {
    List<ServerSocket> open = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        open.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      }
      return open.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : open) {
        socket.close();
      }
    }
  }

  @Test
  void givenBucketThatSomebodyMakesAfterTheOpening_thenItIsCheckedAllTheSame() throws Exception {
    String namespace = NatsServers.namespace();
    String stream = "KV_mortise-" + namespace;
    try (LockStore store = NatsStore.open(NatsServers.shared().url() + "?namespace=" + namespace);
        NatsOperator operator = NatsOperator.of(NatsServers.shared())) {
      operator
          .streams()
          .addStream(
              StreamConfiguration.builder()
                  .name(stream)
                  .subjects("$KV.mortise-" + namespace + ".>")
                  .storageType(StorageType.Memory)
                  .build());
      assertThat(SessionDriver.prepare(store, TTL, "a").renew())
          .isInstanceOfSatisfying(
              Renewal.Unknown.class,
              unknown ->
                  assertThat(unknown.cause())
                      .isInstanceOf(StoreUnfitException.class)
                      .hasMessageContaining("is kept in memory"));
    }
  }

  private static void assertRefused(String why, UnaryOperator<StreamConfiguration.Builder> change)
      throws Exception {
    String namespace = NatsServers.namespace();
    String url = NatsServers.shared().url() + "?namespace=" + namespace;
    String stream = "KV_mortise-" + namespace;
    assertLocks(url);
    try (NatsOperator operator = NatsOperator.of(NatsServers.shared())) {
      StreamConfiguration is = operator.streams().getStreamInfo(stream).getConfiguration();
      operator.streams().deleteStream(stream);
      operator.streams().addStream(change.apply(StreamConfiguration.builder(is)).build());
    }
    assertUnfit(url, why);
  }

  @Test
  void givenConnectionOfTheApplication_thenItIsUsed_andStaysOpen() throws Exception {
    try (NatsOperator mine = NatsOperator.of(NatsServers.shared())) {
      String parameters = "namespace=" + NatsServers.namespace();
      try (LockStore store = NatsStore.over(mine.connection(), parameters)) {
        assertLocks(store);
        assertThat(store.toString()).startsWith("nats:");
      }
      assertThat(mine.connection().getStatus()).isEqualTo(Connection.Status.CONNECTED);
      mine.connection().close();
      assertThatThrownBy(() -> NatsStore.over(mine.connection(), ""))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("CLOSED");
    }
  }

  @Test
  void givenServer_whenExamined_thenItIsTold_andNothingIsMade() throws Exception {
    String namespace = NatsServers.namespace();
    try (LockStore store = NatsStore.open(NatsServers.shared().url() + "?namespace=" + namespace);
        NatsOperator operator = NatsOperator.of(NatsServers.shared())) {
      Map<String, Finding> findings = findings(store);
      assertThat(findings.get("version").grade()).isEqualTo(Grade.FINE);
      assertThat(findings.get("sync_interval").grade()).isEqualTo(Grade.UNKNOWN);
      assertThat(findings.get("bucket").value()).isEqualTo("none");
      assertThat(BoundedWait.join(store.sessions(null, 10)).items()).isEmpty();
      assertThat(BoundedWait.join(store.claimSweep())).isFalse();
      assertThat(BoundedWait.join(store.sweep(10))).isZero();
      assertThat(operator.streams().getStreamNames()).doesNotContain("KV_mortise-" + namespace);
      assertLocks(store);
      assertThat(findings(store).get("replicas").value()).isEqualTo("1");
      try (LockStore told = NatsStore.over(operator.connection(), "sync-always=true")) {
        assertThat(findings(told).get("sync_interval").grade()).isEqualTo(Grade.NOTE);
      }
    }
  }

  private static Map<String, Finding> findings(LockStore store) {
    StoreReport report = BoundedWait.join(store.examine());
    assertThat(report.mode()).isEqualTo("nats");
    return report.findings().stream().collect(Collectors.toMap(Finding::id, Function.identity()));
  }
}
