package io.mortise.field;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockState;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.JvmProcess;
import io.mortise.testkit.server.LocalServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Fifty clients start at the same time; half of them are killed and started again. Each has its own
 * session and connections. Five share a JVM, as two cores cannot start more JVMs in time.
 */
@Tag("long")
class RestartStormTest {
  private static final int JVMS = 10;
  private static final int KILLED = 5;
  private static final int CLIENTS = 5;
  private static final Duration TTL = Duration.ofSeconds(10);

  /** The bound for starting JVMs and connecting. */
  private static final Duration START = Duration.ofMinutes(2);

  /** The bound of a wait: twice the TTL for locks of killed clients, and a second for each turn. */
  private static final Duration BOUND = TTL.multipliedBy(2).plusSeconds(JVMS * CLIENTS);

  /**
   * Lets five clients take their turn on the first command, and closes them on the second. In a JVM
   * that will be killed the first client keeps its lock.
   *
   * @param args URL, file of notes, number of the JVM, number of the JVM that it replaces
   */
  public static void main(String[] args) throws Exception {
    Notes notes = new Notes(Path.of(args[1]));
    notes.add("up " + args[2]);
    if (System.in.read() < 0) {
      return;
    }
    CountDownLatch end = new CountDownLatch(1);
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      String client = args[2] + "/" + i;
      String ownLock = "own/" + args[3] + "/" + i;
      boolean stays = Integer.parseInt(args[2]) < KILLED && i == 0;
      Thread thread = new Thread(() -> live(args[0], notes, client, ownLock, stays, end));
      thread.setDaemon(true);
      clients.add(thread);
      thread.start();
    }
    if (System.in.read() >= 0) {
      end.countDown();
      for (Thread client : clients) {
        client.join();
      }
    }
  }

  private static void live(
      String url, Notes notes, String name, String ownLock, boolean stays, CountDownLatch end) {
    try (LockClient client = connect(url)) {
      CompletableFuture<Lease> own = client.lock(ownLock).acquireAsync(BOUND);
      try (Lease turn = client.lock("turn").acquireWithin(BOUND)) {
        notes.add("in " + name + " " + turn.token());
        if (stays) {
          end.await();
        }
        Thread.sleep(10);
        notes.add("out " + name);
      }
      try (Lease kept = own.join()) {
        notes.add("served " + name + " " + kept.isValid());
        end.await();
      }
    } catch (LockException | CompletionException | InterruptedException e) {
      notes.add("failed " + name + " " + e);
    }
  }

  /** Retries connections that time out, as the machine starts many at once. */
  private static LockClient connect(String url) {
    StoreUnavailableException last = new StoreUnavailableException("none");
    for (int i = 0; i < 3; i++) {
      try {
        return LockClient.builder().url(url).ttl(TTL).build();
      } catch (StoreUnavailableException e) {
        last = e;
      }
    }
    throw last;
  }

  /** Lines of several processes, in the order of writing. Thread-safe. */
  private record Notes(Path file) {
    /** Appends each line by one write, which the kernel does not split. */
    void add(String line) {
      try {
        Files.write(file, (line + "\n").getBytes(UTF_8), CREATE, APPEND);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    List<String> lines(String verb) {
      try (Stream<String> lines = Files.lines(file)) {
        return lines.filter(line -> line.startsWith(verb)).toList();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static JvmProcess start(String url, Notes notes, int number, int place) {
    return JvmProcess.start(
        RestartStormTest.class,
        url,
        notes.file().toString(),
        Integer.toString(number),
        Integer.toString(place));
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "REDIS", "ETCD", "ZOOKEEPER"})
  @Timeout(600)
  @Report({
    "n8n-io/n8n#34685",
    "superdesigndev/treg#129",
    "projectcalico/felix#324",
    "awslabs/amazon-kinesis-client#1803",
    "lantins/resque-lock-timeout#11",
    "curie-eng/curie#2500",
    "hashicorp/consul#9469",
    "everpeace/kube-throttler#57"
  })
  void givenFiftyClientsThatStartAtOnce_whenHalfAreKilledAndStartAgain_thenEachGetsItsTurn(
      FieldStore store, @TempDir Path folder) throws Exception {
    Notes notes = new Notes(folder.resolve("notes"));
    notes.add("begin");
    List<JvmProcess> jvms = new ArrayList<>();
    try (LocalServer server = start(store)) {
      String url = store.newUrl(server);
      for (int i = 0; i < JVMS + KILLED; i++) {
        // The last JVMs replace the first ones, which are killed.
        jvms.add(start(url, notes, i, i % JVMS));
      }
      BoundedWait.until(START, "all were up", () -> notes.lines("up").size() == jvms.size());
      long began = System.nanoTime();
      jvms.subList(0, JVMS).forEach(JvmProcess::goOn);
      BoundedWait.until(
          START,
          "one was inside that is to be killed",
          () -> notes.lines("in").stream().anyMatch(line -> line.matches("in [0-4]/0 .*")));
      notes.add("kill");
      jvms.subList(0, KILLED).forEach(jvm -> jvm.process().destroyForcibly());
      jvms.subList(JVMS, JVMS + KILLED).forEach(JvmProcess::goOn);
      Set<String> live = new HashSet<>();
      for (int i = KILLED; i < JVMS + KILLED; i++) {
        for (int client = 0; client < CLIENTS; client++) {
          live.add("served " + i + "/" + client + " true");
        }
      }
      BoundedWait.until(
          START.plus(BOUND),
          "each live client was served",
          () -> {
            assertThat(notes.lines("failed")).isEmpty();
            return notes.lines("served").containsAll(live);
          });
      System.out.printf(
          "%s: all were served in %d ms%n", store, (System.nanoTime() - began) / 1_000_000);
      assertOneAtATime(notes.lines(""));
      for (JvmProcess jvm : jvms.subList(KILLED, jvms.size())) {
        jvm.goOn();
      }
      for (JvmProcess jvm : jvms) {
        assertThat(jvm.process().waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      }
      assertThat(notes.lines("failed")).isEmpty();
      assertNothingLeft(store, server, url);
    } finally {
      jvms.forEach(JvmProcess::close);
    }
  }

  private static LocalServer start(FieldStore store) {
    return store == FieldStore.POSTGRESQL
        ? store.start("-c", "max_connections=400")
        : store.start();
  }

  /** One client is inside at a time, where a kill counts as leaving, and tokens rise. */
  private static void assertOneAtATime(List<String> lines) {
    String inside = "";
    long token = 0;
    boolean killed = false;
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      killed |= words[0].equals("kill");
      if (words[0].equals("in")) {
        boolean isFree = inside.isEmpty() || (killed && inside.matches("[0-4]/.*"));
        assertThat(isFree).as("%s beside %s", line, inside).isTrue();
        assertThat(Long.parseLong(words[2])).as(line).isGreaterThan(token);
        inside = words[1];
        token = Long.parseLong(words[2]);
      } else if (words[0].equals("out")) {
        assertThat(inside).isEqualTo(words[1]);
        inside = "";
      }
    }
    assertThat(inside).isEmpty();
  }

  /**
   * Nobody holds or waits. Entries of idle names and dead sessions may wait for a sweep; two
   * entries belong to the observing client.
   */
  private static void assertNothingLeft(FieldStore store, LocalServer server, String url) {
    int names = 1 + JVMS * CLIENTS;
    try (LockClient client = Trial.client(url)) {
      BoundedWait.until(
          Trial.LONG,
          "nobody held or waited",
          () -> client.admin().stream("").allMatch(lock -> lock.state() == LockState.FREE));
    }
    long entries = ServerKeys.count(store, server);
    System.out.printf("%s: %d entries are left%n", store, entries);
    assertThat(entries).isLessThanOrEqualTo(names + KILLED * CLIENTS + 2L);
  }
}
