package io.mortise.redis.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.spi.time.Ticker;
import io.mortise.testkit.ManualTime;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectTransportTest {
  private static final Duration STUCK = Duration.ofSeconds(3);
  private static final Duration LONG = Duration.ofSeconds(30);

  private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
  private final List<AutoCloseable> opened = new ArrayList<>();

  private <T extends AutoCloseable> T open(T resource) {
    opened.add(0, resource);
    return resource;
  }

  private DirectTransport connect(Endpoint endpoint) throws IOException {
    return open(DirectTransport.connect(endpoint, "test-reader", timer, Ticker.SYSTEM, STUCK));
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : opened) {
      resource.close();
    }
    timer.shutdownNow();
  }

  /** Answers ECHO, and SUBSCRIBE as a server does. */
  private FakeServer echo() throws IOException {
    return open(FakeServer.greeting(DirectTransportTest::echo));
  }

  /** As {@link #echo()}, while it is not mute. */
  private FakeServer echoUnless(AtomicBoolean mute) throws IOException {
    return open(
        FakeServer.greeting(
            (peer, command) -> {
              if (!mute.get()) {
                echo(peer, command);
              }
            }));
  }

  private static void echo(FakeServer.Peer peer, List<?> command) throws IOException {
    switch (command.get(0).toString()) {
      case "ECHO" -> peer.send("+" + command.get(1) + "\r\n");
      case "SUBSCRIBE", "UNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE" ->
          peer.send(
              ">3\r\n+"
                  + command.get(0).toString().toLowerCase(Locale.ROOT)
                  + "\r\n+"
                  + command.get(1)
                  + "\r\n:1\r\n");
      case "SELECT" -> peer.send("+OK\r\n");
      default -> peer.send("-ERR unknown command\r\n");
    }
  }

  private static @Nullable Object join(CompletionStage<?> stage) throws Exception {
    try {
      return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  @Test
  void givenUserPasswordAndDatabase_whenConnected_thenTheyComeFirst() throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint("ann", "s3cret", 5));
    assertThat(join(transport.call("ECHO", "a"))).isEqualTo("a");
    assertThat(server.received)
        .containsExactly(
            List.of("HELLO", "3", "AUTH", "ann", "s3cret", "SETNAME", "mortise"),
            List.of("SELECT", "5"),
            List.of("ECHO", "a"));
  }

  @Test
  void givenOnlyAPassword_thenItIsThatOfTheDefaultUser() throws Exception {
    FakeServer server = echo();
    connect(server.endpoint(null, "s3cret", 0));
    assertThat(server.received)
        .containsExactly(List.of("HELLO", "3", "AUTH", "default", "s3cret", "SETNAME", "mortise"));
  }

  @Test
  void givenRefusal_whenConnecting_thenItIsTold_withoutThePassword() throws Exception {
    FakeServer server =
        open(FakeServer.start((peer, command) -> peer.send("-WRONGPASS no such user\r\n")));
    Endpoint endpoint = server.endpoint("ann", "s3cret", 0);
    assertThatThrownBy(() -> connect(endpoint))
        .isInstanceOfSatisfying(
            ErrorReplyException.class, error -> assertThat(error.is("WRONGPASS")).isTrue());
    assertThat(endpoint.toString()).doesNotContain("s3cret").doesNotContain("ann");
  }

  @Test
  void givenServerThatSaysNothing_whenConnecting_thenItFailsInTime() throws Exception {
    FakeServer server = open(FakeServer.start((peer, command) -> {}));
    long start = System.nanoTime();
    assertThatThrownBy(() -> connect(server.endpoint())).isInstanceOf(SocketTimeoutException.class);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
  }

  @Test
  void givenServerThatGreetsForEver_whenConnecting_thenItFailsInTime() throws Exception {
    FakeServer server =
        open(
            FakeServer.start(
                (peer, command) -> {
                  peer.send("%1\r\n+proto\r\n");
                  while (true) {
                    peer.send("|0\r\n");
                    try {
                      Thread.sleep(20);
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  }
                }));
    Endpoint endpoint = server.endpoint().within(Duration.ofMillis(500));
    long start = System.nanoTime();
    assertThatThrownBy(() -> connect(endpoint))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessageContaining("within 1s");
    assertThatThrownBy(() -> BlockingConnection.to(endpoint, Ticker.SYSTEM))
        .isInstanceOf(SocketTimeoutException.class);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
  }

  @Test
  void givenServerThatRefusesAReconnect_thenItIsSaidWhy_untilItDoesNot() throws Exception {
    AtomicBoolean refusing = new AtomicBoolean();
    FakeServer server =
        open(
            FakeServer.start(
                (peer, command) -> {
                  if (refusing.get()) {
                    peer.send("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
                  } else if (command.get(0).equals("HELLO")) {
                    peer.send("%1\r\n+proto\r\n:3\r\n");
                  } else {
                    echo(peer, command);
                  }
                }));
    DirectTransport transport = connect(server.endpoint("ann", "s3cret", 0));
    refusing.set(true);
    server.cutAll();
    await().atMost(LONG).until(() -> transport.outageReason().contains("WRONGPASS"));
    assertThat(transport.outageReason()).contains("s: WRONGPASS").doesNotContain("s3cret");
    assertThatThrownBy(() -> join(transport.call("ECHO", "a")))
        .isInstanceOf(NotSentException.class)
        .hasMessageContaining("WRONGPASS invalid username-password pair or user is disabled.");
    refusing.set(false);
    await().atMost(LONG).until(transport::isOpen);
    assertThat(transport.outageReason()).doesNotContain("WRONGPASS");
  }

  /** An application may occupy the common pool. */
  @Test
  void givenCommandHeldForAConnectionThatBreaks_thenItFailsOnTheReader() throws Exception {
    ManualTime time = new ManualTime();
    FakeServer server = open(FakeServer.greeting((peer, command) -> {}));
    DirectTransport transport =
        open(
            DirectTransport.connect(
                server.endpoint(), "test-reader", timer, time, Duration.ofMinutes(5)));
    time.advance(Duration.ofSeconds(3));
    CompletionStage<String> failedOn =
        transport
            .connection()
            .call("ECHO", "a")
            .handle((answer, failure) -> Thread.currentThread().getName() + " " + failure);
    server.cutAll();
    assertThat(join(failedOn))
        .asString()
        .startsWith("test-reader ")
        .contains("It was not sent before the connection broke.");
  }

  // ---- Waiting for replicas ----

  private static long waits(FakeServer server) {
    return server.received.stream().filter(command -> command.get(0).equals("WAIT")).count();
  }

  @Test
  void givenManyWaitForReplicas_thenOneWaitIsUnderWay_andTheNextIsForAllOthers() throws Exception {
    FakeServer server =
        open(
            FakeServer.greeting(
                (peer, command) -> {
                  if (!command.get(0).equals("WAIT")) {
                    echo(peer, command);
                  }
                }));
    DirectTransport transport = connect(server.endpoint());
    List<CompletionStage<Long>> acknowledged = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      acknowledged.add(transport.connection().acknowledged(i, Duration.ofMillis(500)));
    }
    await().atMost(LONG).until(() -> waits(server) == 1);
    server.peers.peek().send(":1\r\n");
    assertThat(join(acknowledged.get(0))).isEqualTo(1L);
    await().atMost(LONG).until(() -> waits(server) == 2);
    assertThat(server.received).contains(List.of("WAIT", "19", "500"));
    assertThat(acknowledged.subList(1, 20)).noneMatch(one -> one.toCompletableFuture().isDone());
    server.peers.peek().send(":2\r\n");
    for (CompletionStage<Long> one : acknowledged.subList(1, 20)) {
      assertThat(join(one)).isEqualTo(2L);
    }
    assertThat(waits(server)).isEqualTo(2);
  }

  /** On another connection, WAIT does not cover writes of this one. */
  @Test
  void givenConnectionBreaks_thenReplicasAreNotAskedOnTheNext() throws Exception {
    AtomicBoolean mute = new AtomicBoolean(true);
    FakeServer server =
        open(
            FakeServer.greeting(
                (peer, command) -> {
                  if (command.get(0).equals("ECHO")) {
                    echo(peer, command);
                  } else if (!mute.get()) {
                    peer.send(":9\r\n");
                  }
                }));
    DirectTransport transport = connect(server.endpoint());
    RedisTransport.TransportConnection transportConnection = transport.connection();
    assertThat(join(transportConnection.call("ECHO", "a"))).isEqualTo("a");
    CompletionStage<Long> first = transportConnection.acknowledged(1, Duration.ofMillis(500));
    CompletionStage<Long> second = transportConnection.acknowledged(1, Duration.ofMillis(500));
    await().atMost(LONG).until(() -> waits(server) == 1);
    mute.set(false);
    server.cutAll();
    for (CompletionStage<Long> one : List.of(first, second)) {
      assertThatThrownBy(() -> join(one)).isInstanceOf(IOException.class);
    }
    await().atMost(LONG).until(transport::isOpen);
    assertThatThrownBy(() -> join(transportConnection.acknowledged(1, Duration.ofMillis(500))))
        .isInstanceOf(NotSentException.class);
    assertThatThrownBy(() -> join(transportConnection.call("ECHO", "b")))
        .isInstanceOf(NotSentException.class);
    assertThat(join(transport.connection().acknowledged(1, Duration.ofMillis(500)))).isEqualTo(9L);
  }

  @Test
  void givenManyThreads_thenEachGetsItsOwnAnswer() throws Exception {
    DirectTransport transport = connect(echo().endpoint());
    List<CompletableFuture<Void>> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      String prefix = t + "/";
      threads.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 500; i++) {
                  assertThat(transport.call("ECHO", prefix + i).toCompletableFuture().join())
                      .isEqualTo(prefix + i);
                }
              }));
    }
    for (CompletableFuture<Void> thread : threads) {
      join(thread);
    }
  }

  @Test
  void givenErrorReply_thenThatCommandFails_andTheNextIsAnswered() throws Exception {
    DirectTransport transport = connect(echo().endpoint());
    assertThatThrownBy(() -> join(transport.call("NONSENSE")))
        .isInstanceOf(ErrorReplyException.class);
    assertThat(join(transport.call("ECHO", "a"))).isEqualTo("a");
  }

  @Test
  void givenConnectionIsCut_thenWhatWaitsFails_andLaterCommandsTravelOnTheNext() throws Exception {
    AtomicBoolean mute = new AtomicBoolean(true);
    FakeServer server = echoUnless(mute);
    DirectTransport transport = connect(server.endpoint());
    CompletionStage<?> first = transport.call("ECHO", "1");
    CompletionStage<?> second = transport.call("ECHO", "2");
    await().atMost(LONG).until(() -> server.received.size() == 3);
    mute.set(false);
    server.cutAll();
    for (CompletionStage<?> waiting : List.of(first, second)) {
      assertThatThrownBy(() -> join(waiting)).isInstanceOf(IOException.class);
    }
    await().atMost(LONG).until(transport::isOpen);
    assertThat(join(transport.call("ECHO", "3"))).isEqualTo("3");
    assertThat(server.received)
        .filteredOn(command -> command.get(0).equals("ECHO"))
        .containsExactly(List.of("ECHO", "1"), List.of("ECHO", "2"), List.of("ECHO", "3"));
  }

  @Test
  void givenServerIsDown_thenCommandsAreNotSent_andAreOnceItIsBack() throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint());
    server.close();
    await().atMost(LONG).until(() -> !transport.isOpen());
    assertThatThrownBy(() -> join(transport.call("ECHO", "a")))
        .isInstanceOf(NotSentException.class);
    open(server.again());
    await().atMost(LONG).until(transport::isOpen);
    assertThat(join(transport.call("ECHO", "b"))).isEqualTo("b");
  }

  /**
   * Fails once where a transport that connects calls others, with an error that ends no test run.
   */
  private static final class FailingResolver implements EndpointResolver, TransportListener {
    private final Endpoint endpoint;
    private final String where;
    volatile boolean armed;

    FailingResolver(Endpoint endpoint, String where) {
      this.endpoint = endpoint;
      this.where = where;
    }

    void reach(String here) {
      if (armed && where.equals(here)) {
        armed = false;
        throw new LinkageError("for a test");
      }
    }

    @Override
    public Endpoint resolve() {
      reach("find");
      return endpoint;
    }

    @Override
    public void check(Endpoint found, String role, ServerQuestion server) {
      reach("check");
    }

    @Override
    public void reconnected() {
      reach("reconnected");
    }

    @Override
    public void connectionLost(String cause) {
      reach("lost");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"find", "check", "reconnected", "lost"})
  void givenErrorWhileConnectingAnew_thenItIsTriedAgain(String where) throws Exception {
    FakeServer server = echo();
    FailingResolver failingResolver = new FailingResolver(server.endpoint(), where);
    DirectTransport transport =
        open(
            DirectTransport.connect(
                failingResolver, "test-reader", timer, Ticker.SYSTEM, STUCK, failingResolver));
    failingResolver.armed = true;
    server.cutAll();
    await().atMost(LONG).until(() -> !failingResolver.armed);
    await().atMost(LONG).until(() -> isAnswered(transport));
  }

  private static boolean isAnswered(DirectTransport transport) throws Exception {
    try {
      return "a".equals(transport.call("ECHO", "a").toCompletableFuture().get(1, TimeUnit.SECONDS));
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  @Test
  void givenErrorWhileConnecting_thenItIsThrown_andTheConnectionIsClosed() throws Exception {
    FakeServer server = echo();
    FailingResolver failingResolver = new FailingResolver(server.endpoint(), "check");
    failingResolver.armed = true;
    assertThatThrownBy(
            () ->
                DirectTransport.connect(
                    failingResolver, "test-reader", timer, Ticker.SYSTEM, STUCK, () -> {}))
        .isInstanceOf(LinkageError.class);
    Socket other = server.peers.peek().socket();
    CompletableFuture<Integer> end = new CompletableFuture<>();
    CompletableFuture<Void> unused =
        CompletableFuture.runAsync(
            () -> {
              try {
                end.complete(other.getInputStream().read());
              } catch (IOException e) {
                end.completeExceptionally(e);
              }
            },
            task -> new Thread(task).start());
    assertThat(join(end)).isEqualTo(-1);
  }

  @Test
  void givenSubscription_thenPushesArrive_alsoAfterAReconnect_untilItIsEnded() throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint());
    Queue<String> heard = new ConcurrentLinkedQueue<>();
    transport.subscribe("inbox", heard::add);
    assertThat(join(transport.call("ECHO", "a"))).isEqualTo("a");
    server
        .peers
        .peek()
        .send(">3\r\n+message\r\n+inbox\r\n+one\r\n>3\r\n+message\r\n+other\r\n+x\r\n");
    await().atMost(LONG).until(() -> heard.contains("one"));
    server.cutAll();
    await().atMost(LONG).until(() -> server.peers.size() >= 2 && transport.isOpen());
    assertThat(join(transport.call("ECHO", "b"))).isEqualTo("b");
    for (FakeServer.Peer peer : server.peers) {
      if (peer.number() == 1) {
        peer.send(">3\r\n+message\r\n+inbox\r\n+two\r\n");
      }
    }
    await().atMost(LONG).until(() -> heard.contains("two"));
    transport.unsubscribe("inbox");
    assertThat(join(transport.call("ECHO", "c"))).isEqualTo("c");
    assertThat(heard).containsExactly("one", "two");
  }

  @Test
  void givenSubscriptionIsRefused_thenAnswersStillBelongToTheirCommands() throws Exception {
    FakeServer server =
        open(
            FakeServer.greeting(
                (peer, command) -> {
                  if (command.get(0).equals("SUBSCRIBE")) {
                    peer.send("-NOPERM no channels\r\n");
                  } else {
                    echo(peer, command);
                  }
                }));
    DirectTransport transport = connect(server.endpoint());
    CompletionStage<?> before = transport.call("ECHO", "a");
    transport.subscribe("inbox", text -> {});
    CompletionStage<?> after = transport.call("ECHO", "b");
    assertThat(join(before)).isEqualTo("a");
    assertThat(join(after)).isEqualTo("b");
  }

  /** Refuses that many subscriptions, of either kind, and then accepts them. */
  private FakeServer refusing(String error, int times) throws IOException {
    AtomicInteger left = new AtomicInteger(times);
    return open(
        FakeServer.greeting(
            (peer, command) -> {
              boolean subscribe = command.get(0).toString().endsWith("SUBSCRIBE");
              if (subscribe && left.getAndDecrement() > 0) {
                peer.send("-" + error + "\r\n");
              } else {
                echo(peer, command);
              }
            }));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "BUSY Redis is busy running a script.",
        "LOADING Redis is loading the dataset in memory",
        "CLUSTERDOWN Hash slot not served",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "MOVED 1 127.0.0.1:1",
        "MASTERDOWN Link with MASTER is down"
      })
  void givenSubscriptionIsRefusedForAWhile_thenItIsAskedForAgain_andIsThereOnlyThen(String error)
      throws Exception {
    FakeServer server = refusing(error, 2);
    DirectTransport transport = connect(server.endpoint());
    Queue<String> heard = new ConcurrentLinkedQueue<>();
    transport.subscribeInShard("inbox", heard::add);
    assertThat(join(transport.call("ECHO", "a"))).isEqualTo("a");
    await().atMost(LONG).until(() -> transport.isSubscribed("inbox"));
    assertThat(server.received)
        .filteredOn(command -> command.get(0).equals("SSUBSCRIBE"))
        .hasSize(3);
    server.peers.peek().send(">3\r\n+smessage\r\n+inbox\r\n+one\r\n");
    await().atMost(LONG).until(() -> heard.contains("one"));
  }

  @Test
  void givenSubscriptionIsNotPermitted_thenItIsAskedForAgainMuchLater() throws Exception {
    List<Long> delays = new CopyOnWriteArrayList<>();
    ScheduledThreadPoolExecutor hasty =
        new ScheduledThreadPoolExecutor(1) {
          @Override
          public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            delays.add(unit.toSeconds(delay));
            return super.schedule(task, 0, unit);
          }
        };
    open(hasty::shutdownNow);
    FakeServer server = refusing("NOPERM no channels", 1);
    DirectTransport transport =
        open(
            DirectTransport.connect(server.endpoint(), "test-reader", hasty, Ticker.SYSTEM, STUCK));
    transport.subscribe("inbox", text -> {});
    await().atMost(LONG).until(() -> transport.isSubscribed("inbox"));
    assertThat(delays).containsExactly(60L);
  }

  @Test
  void givenConnectionIsCut_thenASubscriptionIsThereAgainOnlyOnceItIsConfirmed() throws Exception {
    AtomicBoolean mute = new AtomicBoolean();
    FakeServer server = echoUnless(mute);
    DirectTransport transport = connect(server.endpoint());
    assertThat(transport.isSubscribed("inbox")).isFalse();
    transport.subscribe("inbox", text -> {});
    await().atMost(LONG).until(() -> transport.isSubscribed("inbox"));
    assertThat(transport.isSubscribed("other")).isFalse();
    mute.set(true);
    server.cutAll();
    await().atMost(LONG).until(() -> server.peers.size() >= 2 && transport.isOpen());
    assertThat(transport.isSubscribed("inbox")).isFalse();
    mute.set(false);
    server.cutAll();
    await().atMost(LONG).until(() -> transport.isSubscribed("inbox"));
    transport.unsubscribe("inbox");
    assertThat(transport.isSubscribed("inbox")).isFalse();
  }

  @Test
  void givenServerEndsASubscriptionByItself_thenItIsAskedForAgain() throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint());
    transport.subscribeInShard("inbox", text -> {});
    await().atMost(LONG).until(() -> transport.isSubscribed("inbox"));
    server.peers.peek().send(">3\r\n+sunsubscribe\r\n+inbox\r\n:0\r\n");
    await()
        .atMost(LONG)
        .until(
            () ->
                server.received.stream().filter(c -> c.get(0).equals("SSUBSCRIBE")).count() == 2
                    && transport.isSubscribed("inbox"));
  }

  /** As a server whose slot leaves between the previous command and that one. */
  @Test
  void givenServerEndsASubscription_whileWeEndIt_thenAnswersStillBelongToTheirCommands()
      throws Exception {
    FakeServer server =
        open(
            FakeServer.greeting(
                (peer, command) -> {
                  if (command.get(0).equals("SUNSUBSCRIBE")) {
                    peer.send("-MOVED 1 127.0.0.1:1\r\n");
                  } else if (command.get(0).equals("ECHO") && command.get(1).equals("a")) {
                    peer.send("+a\r\n>3\r\n+sunsubscribe\r\n+inbox\r\n:0\r\n");
                  } else {
                    echo(peer, command);
                  }
                }));
    DirectTransport transport = connect(server.endpoint());
    transport.subscribeInShard("inbox", text -> {});
    await().atMost(LONG).until(() -> transport.isSubscribed("inbox"));
    CompletionStage<?> first = transport.call("ECHO", "a");
    transport.unsubscribe("inbox");
    CompletionStage<?> second = transport.call("ECHO", "b");
    CompletionStage<?> third = transport.call("ECHO", "c");
    assertThat(join(first)).isEqualTo("a");
    assertThat(join(second)).isEqualTo("b");
    assertThat(join(third)).isEqualTo("c");
  }

  @Test
  void givenListenerThatThrows_thenTheWireComesBack() throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint());
    transport.subscribe(
        "inbox",
        text -> {
          throw new IllegalStateException(text);
        });
    assertThat(join(transport.call("ECHO", "a"))).isEqualTo("a");
    server.peers.peek().send(">3\r\n+message\r\n+inbox\r\n+one\r\n");
    await().atMost(LONG).until(() -> server.peers.size() >= 2 && transport.isOpen());
    assertThat(join(transport.call("ECHO", "b"))).isEqualTo("b");
  }

  @Test
  void givenAnswerToNothing_thenTheConnectionIsNotTrustedAnyMore() throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint());
    server.peers.peek().send("+surprise\r\n");
    await().atMost(LONG).until(() -> server.peers.size() >= 2 && transport.isOpen());
    assertThat(join(transport.call("ECHO", "a"))).isEqualTo("a");
  }

  @Test
  void givenServerThatTakesNothingIn_thenAStuckWriteIsCutOff() throws Exception {
    FakeServer server =
        open(
            FakeServer.greeting(
                (peer, command) -> {
                  try {
                    Thread.sleep(30_000);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                }));
    DirectTransport transport = connect(server.endpoint());
    String large = "x".repeat(RespReader.MAX_TEXT);
    CompletableFuture<CompletionStage<?>> writer =
        CompletableFuture.supplyAsync(
            () -> {
              transport.call("ECHO", "a");
              return transport.call("ECHO", large);
            });
    assertThatThrownBy(() -> join((CompletionStage<?>) join(writer)))
        .isInstanceOf(IOException.class);
  }

  @Test
  void givenNoAnswer_whenReset_thenWhatWaitsFails_andTheWireComesBack() throws Exception {
    FakeServer server = open(FakeServer.greeting((peer, command) -> {}));
    DirectTransport transport = connect(server.endpoint());
    CompletionStage<?> waiting = transport.call("ECHO", "a");
    transport.reset();
    assertThatThrownBy(() -> join(waiting)).isInstanceOf(IOException.class);
    await().atMost(LONG).until(() -> server.peers.size() >= 2 && transport.isOpen());
  }

  @Test
  void givenCommandsThatWait_whenClosed_thenTheyFail_andNoThreadIsLeft() throws Exception {
    FakeServer server = open(FakeServer.greeting((peer, command) -> {}));
    DirectTransport transport =
        DirectTransport.connect(server.endpoint(), "test-closing", timer, Ticker.SYSTEM, STUCK);
    CompletionStage<?> waiting = transport.call("ECHO", "a");
    transport.close();
    assertThatThrownBy(() -> join(waiting)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> join(transport.call("ECHO", "b")))
        .isInstanceOf(NotSentException.class);
    await()
        .atMost(LONG)
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("test-closing")));
  }

  // ---- Lending a thread ----

  private static String echoLending(
      DirectTransport transport, String text, AtomicReference<@Nullable Thread> by)
      throws Exception {
    CompletableFuture<?> answer = transport.call("ECHO", text).toCompletableFuture();
    CompletionStage<?> seen = answer.thenRun(() -> by.set(Thread.currentThread()));
    transport.readOnCaller(answer::isDone, () -> true);
    join(seen);
    return String.valueOf(join(answer));
  }

  private static void lendUntilTaken(DirectTransport transport) {
    await()
        .atMost(LONG)
        .until(
            () -> {
              AtomicReference<@Nullable Thread> by = new AtomicReference<>();
              for (int i = 0; i < 50; i++) {
                assertThat(echoLending(transport, "l" + i, by)).isEqualTo("l" + i);
              }
              return by.get() == Thread.currentThread();
            });
  }

  @Test
  void givenOneCallerAfterTheOther_thenHeReadsHisOwnAnswer_andThenTheReaderReadsAgain()
      throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint());
    Queue<String> heard = new ConcurrentLinkedQueue<>();
    transport.subscribe("inbox", heard::add);
    for (int round = 0; round < 20; round++) {
      lendUntilTaken(transport);
      server.peers.peek().send(">3\r\n+message\r\n+inbox\r\n+" + round + "\r\n");
      await().pollInterval(Duration.ofMillis(1)).until(() -> !heard.isEmpty());
      heard.clear();
      lendUntilTaken(transport);
      assertThat(join(transport.call("ECHO", "not lent"))).isEqualTo("not lent");
      lendUntilTaken(transport);
      transport.requireReaderThread();
      assertThat(join(transport.call("ECHO", "needs the reader"))).isEqualTo("needs the reader");
    }
  }

  @Test
  void givenCallerReads_whenNoAnswerComes_thenHeIsKeptForAMomentOnly() throws Exception {
    AtomicBoolean mute = new AtomicBoolean();
    FakeServer server = echoUnless(mute);
    DirectTransport transport = connect(server.endpoint());
    lendUntilTaken(transport);
    mute.set(true);
    CompletableFuture<?> answer = transport.call("ECHO", "a").toCompletableFuture();
    long start = System.nanoTime();
    transport.readOnCaller(answer::isDone, () -> true);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    server.peers.peek().send("+late\r\n");
    assertThat(join(answer)).isEqualTo("late");
  }

  @Test
  void givenCallerReads_whenTheConnectionIsCut_thenTheReaderSeesToIt() throws Exception {
    FakeServer server = echo();
    DirectTransport transport = connect(server.endpoint());
    for (int round = 1; round <= 5; round++) {
      lendUntilTaken(transport);
      int next = round + 1;
      server.cutAll();
      CompletableFuture<?> answer = transport.call("ECHO", "a").toCompletableFuture();
      transport.readOnCaller(answer::isDone, () -> true);
      assertThatThrownBy(() -> join(answer))
          .isInstanceOfAny(IOException.class, NotSentException.class);
      await().atMost(LONG).until(() -> server.peers.size() >= next && transport.isOpen());
    }
  }

  @Test
  void givenManyWhoLend_thenEachGetsItsOwnAnswer() throws Exception {
    DirectTransport transport = connect(echo().endpoint());
    List<CompletableFuture<Void>> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      String prefix = t + "/";
      threads.add(
          CompletableFuture.runAsync(
              () -> {
                try {
                  AtomicReference<@Nullable Thread> by = new AtomicReference<>();
                  for (int i = 0; i < 1000; i++) {
                    assertThat(echoLending(transport, prefix + i, by)).isEqualTo(prefix + i);
                  }
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              },
              task -> new Thread(task).start()));
    }
    for (CompletableFuture<Void> thread : threads) {
      join(thread);
    }
  }
}
