package io.mortise.simulation;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.support.document.DocumentStoreOpener;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.DocumentWrite;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Documents with versions. Parses writes by its own code rather than the kit's, and reports locks
 * and sessions to the checker.
 */
final class SimDocumentServer extends SimServer {
  private static final String LOCK = "lock/";
  private static final String REAR = "rear/";
  private static final String SWEEP = "sweep/";
  private static final String SESSION = "session/";

  /** Whether it has a clock, and executes no write late. */
  final boolean hasClock;

  /** Whether processes sweep. Else only contenders detect dead sessions. */
  final boolean isSwept;

  final @Nullable DocumentFlaw flaw;

  /** Whether the answer to a write contains the present document. */
  private final boolean tellsWhatStands;

  /** Whether it can write several documents at a time. */
  final boolean writesTogether;

  /**
   * The most waiters that a lock's document keeps of a long queue. Polls look at the sessions of
   * eight waiters in front. With fewer there, each dead waiter behind them costs a TTL of its own,
   * and the bound of waits counts one.
   */
  final int mostInFront;

  private final SplittableRandom random;
  private final TreeMap<String, VersionedText> documents = new TreeMap<>();
  private final Map<String, Map<SimDocumentStore, Consumer<@Nullable VersionedText>>> watches =
      new HashMap<>();
  private final Map<SessionId, Long> livesUntil = new HashMap<>();

  /** How often the at-least time of a hold was started. */
  private final Map<AttemptId, Long> starts = new HashMap<>();

  private final LockStore operator;
  private long version = 1;
  private long removed;

  SimDocumentServer(
      VirtualTimeScheduler virtualTimeScheduler,
      SimSettings settings,
      Scenario scenario,
      InvariantChecker invariantChecker) {
    super(virtualTimeScheduler, settings, invariantChecker);
    this.random = virtualTimeScheduler.random();
    this.hasClock = scenario.store() == Scenario.StoreKind.DOCUMENTS;
    this.flaw = scenario.rules().documents();
    this.isSwept = random.nextInt(3) != 0;
    this.tellsWhatStands = random.nextInt(3) != 0;
    this.writesTogether = random.nextInt(3) != 0;
    this.mostInFront = scenario.faults().contains(SimFault.CRASH) ? 9 : 2;
    VersionedDocuments direct = new DirectDocuments();
    this.operator =
        DocumentStoreOpener.open(
            SimDocumentStore.profile(settings),
            direct,
            direct,
            hasClock ? null : virtualTimeScheduler::now,
            this::micros,
            millis -> Runnable::run,
            mostInFront,
            null);
  }

  @Override
  SimStore open(SimProcess simProcess, SimTransport wire) {
    return new SimDocumentStore(virtualTimeScheduler, this, simProcess, wire, random.split());
  }

  // ---- Documents ----

  VersionedText read(String key) {
    VersionedText found = documents.get(key);
    if (found != null) {
      return found;
    }
    return hasClock ? VersionedText.ABSENT : new VersionedText(null, Long.toString(version));
  }

  Written compareAndSet(String key, VersionedText found, @Nullable String text) {
    VersionedText before = documents.get(key);
    boolean made = isStill(found, before);
    virtualTimeScheduler.trace(
        () ->
            "  store: "
                + (made ? "writes " : "does not write ")
                + key
                + " over "
                + found.version()
                + ": "
                + (text == null ? "removed" : shown(key, text)));
    if (made) {
      version++;
      if (text == null) {
        documents.remove(key);
        removed = version;
      } else {
        documents.put(key, new VersionedText(text, Long.toString(version)));
      }
      observe(key, before == null ? null : before.text(), text);
      // Some servers tell the text, others only that it has changed.
      VersionedText told = text == null || !tellsWhatStands ? null : read(key);
      watches
          .getOrDefault(key, Map.of())
          .forEach((store, changed) -> store.push(() -> changed.accept(told)));
    }
    return new Written(made, tellsWhatStands ? read(key) : null);
  }

  /** All at once: nobody sees a part of it. */
  List<Written> compareAndSetAll(List<DocumentWrite> writes) {
    int compared = flaw == DocumentFlaw.COMPARES_THE_LOCK_ONLY ? 1 : writes.size();
    boolean isPartial = flaw == DocumentFlaw.WRITES_A_PART;
    boolean made =
        isPartial
            || writes.stream()
                .limit(compared)
                .allMatch(each -> isStill(each.found(), documents.get(each.key())));
    List<Written> written = new ArrayList<>();
    for (DocumentWrite each : writes) {
      VersionedText found = compared == writes.size() ? each.found() : read(each.key());
      written.add(
          made && found.text() != null
              ? compareAndSet(each.key(), found, each.text())
              : new Written(false, tellsWhatStands ? read(each.key()) : null));
    }
    return written;
  }

  /** Each process writes a random word into the document of the sweep. */
  private static String shown(String key, String text) {
    return key.startsWith(SWEEP) ? "taken" : text.replace('\t', ' ').replace('\n', '|');
  }

  private boolean isStill(VersionedText found, @Nullable VersionedText before) {
    if (found.text() != null) {
      return before != null && found.version().equals(before.version());
    }
    return before == null && (hasClock || Long.parseLong(found.version()) >= removed);
  }

  List<String> scan(String prefix, String after, int limit) {
    return documents.tailMap(prefix).keySet().stream()
        .takeWhile(key -> key.startsWith(prefix))
        .filter(key -> key.compareTo(after) > 0)
        .limit(limit)
        .toList();
  }

  Runnable watch(String key, SimDocumentStore store, Consumer<@Nullable VersionedText> changed) {
    watches.computeIfAbsent(key, unused -> new LinkedHashMap<>()).put(store, changed);
    return () -> watches.getOrDefault(key, new HashMap<>()).remove(store);
  }

  // ---- Observation ----

  /** The first line of a session's document. */
  private record Session(long renewals, long ttlMicros, long expiresAt, boolean ended) {
    static Session parse(String text) {
      String[] fields = text.split("[\t\n]", -1);
      return new Session(
          Long.parseLong(fields[2]),
          Long.parseLong(fields[3]),
          Long.parseLong(fields[4]),
          Boolean.parseBoolean(fields[5]));
    }
  }

  private void observe(String key, @Nullable String before, @Nullable String text) {
    if (key.startsWith(SESSION)) {
      observeSession(new SessionId(key.substring(SESSION.length())), before, text);
    } else if (key.startsWith(LOCK) && text != null) {
      LockName name = LockName.of(key.substring(LOCK.length()));
      if (hasClock) {
        observeEnds(name, before, text);
      }
      text.lines().skip(1).forEach(line -> observeLock(name, line.split("\t", -1)));
    } else if (key.startsWith(REAR) && text != null) {
      LockName name = LockName.of(key.substring(REAR.length()));
      text.lines().skip(1).forEach(line -> observeLock(name, line.split("\t", -1)));
    }
  }

  private void observeSession(SessionId id, @Nullable String before, @Nullable String text) {
    Session session = text == null ? null : Session.parse(text);
    if (session == null || session.ended()) {
      livesUntil.put(id, Long.MIN_VALUE);
    } else if (before == null || Session.parse(before).renewals() != session.renewals()) {
      livesUntil.put(
          id,
          hasClock
              ? trueTime(session.expiresAt())
              : virtualTimeScheduler.now() + session.ttlMicros() * 1000);
    }
  }

  /** The step that ends holds may start their at-least times again before: the record says so. */
  private void observeEnds(LockName name, @Nullable String before, String text) {
    String[] first = text.lines().findFirst().orElseThrow().split("\t", -1);
    long shutUntil = Long.parseLong(first[4]);
    if (before == null || shutUntil <= Long.parseLong(first[5])) {
      return;
    }
    before
        .lines()
        .filter(line -> line.startsWith("hold\t"))
        .map(line -> line.split("\t", -1)[1])
        .filter(attempt -> !text.contains("hold\t" + attempt + "\t"))
        .forEach(attempt -> invariantChecker.shut(name, AttemptId.parse(attempt), shutUntil));
  }

  /** A line of a lock's document. */
  private void observeLock(LockName name, String[] fields) {
    if (fields[0].equals("split")) {
      return;
    }
    AttemptId attempt = AttemptId.parse(fields[1]);
    if (fields[0].equals("wait")) {
      invariantChecker.met(attempt);
    } else if (fields[0].equals("hold")) {
      long token = Long.parseLong(fields[4]);
      long atLeastUntil = Long.parseLong(fields[7]);
      long now = hasClock ? micros() : trueMicros();
      invariantChecker.minted(name, attempt, token, Integer.parseInt(fields[5]), now);
      if (hasClock && atLeastUntil > 0) {
        invariantChecker.shut(name, attempt, atLeastUntil);
      }
    } else if (!hasClock && (fields[0].equals("least") || fields[0].equals("shut"))) {
      // A step that starts the time again may also end the hold.
      long start = Long.parseLong(fields[2]);
      Long before = starts.put(attempt, start);
      if (before == null || before != start) {
        long length = Long.parseLong(fields[3]);
        // A millisecond takes the time back.
        invariantChecker.shut(name, attempt, trueMicros() + (length <= 1_000 ? 0 : length));
      }
    }
  }

  private long trueMicros() {
    return virtualTimeScheduler.now() / 1000;
  }

  // ---- Faults: only those of a store of documents ----

  @Override
  void connected(SessionId session, boolean there) {}

  @Override
  void forgetAll() {
    throw new UnsupportedOperationException("Documents do not get lost.");
  }

  @Override
  void forgetSome(SplittableRandom unused) {
    forgetAll();
  }

  @Override
  long beat(SessionId session) {
    return 0;
  }

  @Override
  long renewByClone(SessionSpec spec, long previous, long next) {
    return 0;
  }

  // ---- For operators and the checker ----

  private static <T> T now(CompletionStage<T> stage) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    if (!future.isDone()) {
      throw new IllegalStateException("An operator stands beside the server, and never waits.");
    }
    return future.join();
  }

  @Override
  Reply.Ended evict(LockName name, AttemptId attempt, Eviction how) {
    return now(operator.evict(name, attempt, how));
  }

  @Override
  boolean reopen(LockName name) {
    return now(operator.reopen(name));
  }

  @Override
  int sweep() {
    int all = 0;
    int more = 1;
    while (more > 0) {
      more = now(operator.sweep(1_000));
      all += more;
    }
    return all;
  }

  @Override
  List<LockInfo> locks() {
    return now(operator.inspect(LockQuery.all().page(null, 1_000))).items();
  }

  @Override
  long livesUntil(SessionId session) {
    return livesUntil.getOrDefault(session, Long.MIN_VALUE);
  }

  /** Whether there is a document of that session. */
  boolean keeps(SessionId session) {
    return documents.containsKey(SESSION + session.value());
  }

  /** Documents left when no process is alive and the longest times have passed. */
  List<String> leftovers() {
    return documents.keySet().stream().filter(key -> !key.startsWith(SWEEP)).toList();
  }

  /** A store beside the server: nothing delays it. */
  private final class DirectDocuments implements VersionedDocuments {
    @Override
    public CompletionStage<VersionedText> read(String key) {
      return CompletableFuture.completedFuture(SimDocumentServer.this.read(key));
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      return CompletableFuture.completedFuture(
          SimDocumentServer.this.compareAndSet(key, found, text));
    }

    @Override
    public boolean writesTogether() {
      return writesTogether;
    }

    @Override
    public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
      return CompletableFuture.completedFuture(SimDocumentServer.this.compareAndSetAll(writes));
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return CompletableFuture.completedFuture(SimDocumentServer.this.scan(prefix, after, limit));
    }

    @Override
    public long micros() {
      return SimDocumentServer.this.micros();
    }
  }

  /** Draws the offset of a host's time of day from true time, in microseconds. */
  long hostOffset() {
    Duration most =
        switch (random.nextInt(4)) {
          case 0 -> Duration.ZERO;
          case 1 -> Duration.ofSeconds(1);
          case 2 -> Duration.ofMinutes(15);
          default -> Duration.ofHours(20);
        };
    long micros = most.toMillis() * 1000;
    return random.nextLong(-micros, micros + 1);
  }
}
