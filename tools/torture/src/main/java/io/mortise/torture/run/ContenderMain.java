package io.mortise.torture.run;

import io.mortise.LockClient;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryWriter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A client process: reads its settings, {@code name=value} a line up to an empty one, then contends
 * until its input is {@code stop} or ends. Prints {@code ready} when it has connected, and {@code
 * done} when it has released all locks. At {@code fill N} it fills its heap with garbage that takes
 * about N ms to collect; at {@code collect} it prints the time of the collection.
 */
final class ContenderMain {
  /** A process that acquires locks of all kinds, and holds some permanently. */
  static final String CONTENDER = "contender";

  /** A process that only waits in queues. */
  static final String WAITER = "waiter";

  /**
   * Contends.
   *
   * @param args none: other users could see them, and URLs have passwords
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Map<String, String> settings = new HashMap<>();
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      int equals = line.indexOf('=');
      settings.put(line.substring(0, equals), line.substring(equals + 1));
    }
    new ContenderMain(settings).run(in);
  }

  private final Map<String, String> settings;
  private final int process;
  private final Duration ttl;
  private final AtomicBoolean over = new AtomicBoolean();
  private final List<Thread> threads = new ArrayList<>();
  private int workers;

  private ContenderMain(Map<String, String> settings) {
    this.settings = settings;
    this.process = number(settings, "process");
    this.ttl = Duration.ofMillis(number(settings, "ttl"));
  }

  private void run(BufferedReader in) throws IOException, InterruptedException {
    try (HistoryWriter history = new HistoryWriter(Path.of(setting(settings, "history")));
        StallDetector stalls = new StallDetector(history, process, ttl.dividedBy(20));
        StickyCounter retakes = new StickyCounter(history, process);
        LockClient locks = connect(setting(settings, "url"), ttl, process, retakes)) {
      stalls.begin();
      if (setting(settings, "role").equals(WAITER)) {
        contender(locks, history, contender -> contender.waitInQueue(this::goesOn));
        contender(locks, history, contender -> contender.waitInNaiveQueue(this::goesOn));
      } else {
        contendForAll(locks, history);
      }
      System.out.println("ready");
      execute(in);
      for (Thread thread : threads) {
        thread.join();
      }
    }
    System.out.println("done");
  }

  private void contendForAll(LockClient locks, HistoryWriter history) {
    for (int i = number(settings, "threads"); i > 0; i--) {
      contender(locks, history, contender -> contender.contend(this::goesOn));
    }
    contender(locks, history, contender -> contender.writeUnfenced(this::goesOn));
    contender(locks, history, contender -> contender.lockNaively(this::goesOn));
    contender(locks, history, contender -> contender.waitFairly(this::goesOn));
    contender(locks, history, contender -> contender.keepHolding(this::goesOn));
    CrowdWorkload crowd = new CrowdWorkload(locks, history, this::goesOn);
    start(crowd::run, CrowdWorkload.WAITERS);
    int width = number(settings, "bulk");
    if (width > 0) {
      BulkWorkload bulkWorkload = new BulkWorkload(locks, history, process);
      start(worker -> bulkWorkload.takeRemotely(worker, this::goesOn, width));
      for (int i = 0; i < BulkWorkload.PASSERS; i++) {
        start(worker -> bulkWorkload.takeLocally(worker, this::goesOn));
      }
    }
  }

  private boolean goesOn() {
    return !over.get();
  }

  private interface WorkerLoop {
    void run(int worker) throws IOException, InterruptedException;
  }

  private interface ContenderLoop {
    void run(Contender contender) throws IOException, InterruptedException;
  }

  private void contender(LockClient locks, HistoryWriter history, ContenderLoop workerLoop) {
    start(
        worker -> {
          try (ResourceClient line = new ResourceClient(number(settings, "resource"), worker)) {
            workerLoop.run(
                new Contender(
                    locks,
                    line,
                    history,
                    worker,
                    new Contender.LockCounts(number(settings, "hot"), number(settings, "sticky")),
                    ttl,
                    Long.parseLong(setting(settings, "seed")) * 31 + worker));
          }
        });
  }

  private void start(WorkerLoop workerLoop) {
    start(workerLoop, 1);
  }

  /** Starts a thread for several workers, passing the number of the first. */
  private void start(WorkerLoop workerLoop, int many) {
    int worker = process * HistoryEvent.PROCESS + workers + 1;
    workers += many;
    Thread thread =
        new Thread(
            () -> {
              try {
                workerLoop.run(worker);
              } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            },
            "contender-" + worker);
    thread.start();
    threads.add(thread);
  }

  /** Executes commands until {@code stop}. Ends the process if its input ends. */
  private void execute(BufferedReader in) throws IOException {
    HeapFiller heapFiller = new HeapFiller();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "fill" -> {
          heapFiller.fill(Long.parseLong(words[1]), process);
          System.out.println("filled");
        }
        case "collect" -> System.out.println(heapFiller.collect());
        case "stop" -> {
          over.set(true);
          return;
        }
        default -> throw new IllegalArgumentException("Not understood: " + line);
      }
    }
    Runtime.getRuntime().halt(1);
  }

  /** Connects, retrying while the store is unavailable. */
  private static LockClient connect(String url, Duration ttl, int process, StickyCounter retakes)
      throws InterruptedException {
    for (int tries = 1; ; tries++) {
      try {
        return LockClient.builder()
            .url(url)
            .ttl(ttl)
            .name("contender-" + process)
            .listener(retakes)
            .build();
      } catch (RuntimeException e) {
        if (tries == 100) {
          throw e;
        }
        Thread.sleep(100);
      }
    }
  }

  private static String setting(Map<String, String> settings, String name) {
    String value = settings.get(name);
    if (value == null) {
      throw new IllegalArgumentException("There is no setting '" + name + "'.");
    }
    return value;
  }

  private static int number(Map<String, String> settings, String name) {
    return Integer.parseInt(setting(settings, name));
  }
}
