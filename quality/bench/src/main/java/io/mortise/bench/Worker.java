package io.mortise.bench;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subject.LockHandle;
import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.SubjectStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The main class of a {@link WorkerProcess}: executes the commands of its input, one per line. */
final class Worker {
  /** Prefix of each answer, as libraries may print lines of their own. */
  static final String MARK = "bench>";

  private static final long WAIT_MILLIS = 10_000;
  private static final int WARM_UP = 100;

  /** The delay until threads, timers and buffers of a closed client are gone. */
  private static final long SETTLE_MILLIS = 6_000;

  private final int number;
  private final StoreUrls stores;
  private final GuardedCell guardedCell;
  private final Map<Subjects, Subject> open = new HashMap<>();
  private final Map<String, LockHandle> lockHandles = new HashMap<>();
  private final List<Object> held = new ArrayList<>();
  private @Nullable LockLoad lockLoad;

  private Worker(int number, StoreUrls stores, GuardedCell guardedCell) {
    this.number = number;
    this.stores = stores;
    this.guardedCell = guardedCell;
  }

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      Worker worker =
          new Worker(
              Integer.parseInt(args[0]), stores(in.readLine()), GuardedCell.in(Path.of(args[1])));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        Map<String, Object> question = JSON.std.mapFrom(line);
        Map<String, Object> answer = new HashMap<>();
        try {
          answer.putAll(worker.answer(question));
        } catch (Exception e) {
          answer.put("failed", e.toString());
        }
        answer.put("number", question.get("number"));
        out.println(MARK + JSON.std.asString(answer));
      }
    }
    // Not every library lets its process end while something is held.
    Runtime.getRuntime().halt(0);
  }

  private static StoreUrls stores(String line) throws IOException {
    Map<SubjectStore, String> urls = new EnumMap<>(SubjectStore.class);
    JSON.std
        .mapFrom(line)
        .forEach((place, url) -> urls.put(SubjectStore.valueOf(place), String.valueOf(url)));
    return new StoreUrls(urls);
  }

  private Map<String, Object> answer(Map<String, Object> question) throws Exception {
    Subjects which = Subjects.valueOf(String.valueOf(question.get("subject")));
    String lock = String.valueOf(question.get("lock"));
    return switch (String.valueOf(question.get("verb"))) {
      case "prepare" -> {
        int threads = (int) WorkerProcess.number(question, "threads");
        lockLoad =
            new LockLoad(subject(which), threads, i -> lock, guardedCell, number, WAIT_MILLIS);
        yield Map.of();
      }
      case "race" -> {
        LockLoad ready = lockLoad;
        if (ready == null) {
          throw new IllegalStateException("Nothing was prepared.");
        }
        yield ready
            .run(WorkerProcess.number(question, "start"), WorkerProcess.number(question, "millis"))
            .encode();
      }
      case "take" -> {
        boolean taken = lockHandle(which, lock).take(WAIT_MILLIS);
        long now = System.nanoTime();
        if (!taken) {
          throw new IllegalStateException("not acquired within " + WAIT_MILLIS + " ms");
        }
        yield Map.of("at", now);
      }
      case "give" -> {
        long now = System.nanoTime();
        lockHandle(which, lock).release();
        yield Map.of("at", now);
      }
      case "turn" -> {
        LockHandle lockHandle = lockHandle(which, lock);
        long asked = System.nanoTime();
        if (!lockHandle.take(WAIT_MILLIS)) {
          throw new IllegalStateException("not acquired within " + WAIT_MILLIS + " ms");
        }
        lockHandle.release();
        yield Map.of("nanos", System.nanoTime() - asked);
      }
      case "connect" -> connect(which, lock);
      case "hold" -> hold(which, lock, (int) WorkerProcess.number(question, "count"));
      default -> throw new IllegalArgumentException("Not understood: " + question);
    };
  }

  private Subject subject(Subjects which) throws Exception {
    Subject subject = open.get(which);
    if (subject == null) {
      subject = which.open(stores);
      open.put(which, subject);
    }
    return subject;
  }

  private LockHandle lockHandle(Subjects which, String lock) throws Exception {
    String key = which + " " + lock;
    LockHandle lockHandle = lockHandles.get(key);
    if (lockHandle == null) {
      lockHandle = subject(which).lockHandle(lock);
      lockHandles.put(key, lockHandle);
    }
    return lockHandle;
  }

  /**
   * Connects, and loads classes by a first client, which acquires and releases locks and is closed.
   * The measured client does not warm up itself, as some libraries continue to renew released
   * locks.
   */
  private Map<String, Object> connect(Subjects which, String prefix) throws Exception {
    try (Subject first = which.open(stores)) {
      for (int i = 0; i < WARM_UP; i++) {
        LockHandle lockHandle = first.lockHandle(prefix + "first-" + i);
        lockHandle.take(WAIT_MILLIS);
        lockHandle.release();
      }
    }
    held.add(subject(which).hold(prefix + "connected", WAIT_MILLIS));
    Thread.sleep(SETTLE_MILLIS);
    return Map.of();
  }

  /** Takes many locks and keeps them. */
  private Map<String, Object> hold(Subjects which, String prefix, int count) throws Exception {
    Subject subject = subject(which);
    List<Object> all = new ArrayList<>(count);
    long before = usedHeap();
    for (int i = 0; i < count; i++) {
      all.add(subject.hold(prefix + i, WAIT_MILLIS));
    }
    long heap = usedHeap() - before;
    held.addAll(all);
    return Map.of("heap", heap);
  }

  /** Returns the smallest heap use seen, as some garbage needs several collections. */
  static long usedHeap() throws InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 10; i++) {
      System.gc();
      Thread.sleep(50);
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }
}
