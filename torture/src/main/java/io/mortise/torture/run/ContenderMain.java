package io.mortise.torture.run;

import io.mortise.LockClient;
import io.mortise.torture.history.Event;
import io.mortise.torture.history.HistoryFile;
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
 * until its input says {@code stop} or ends. Says {@code ready} when it has connected, and {@code
 * done} when it has given all back.
 */
final class ContenderMain {
  private ContenderMain() {}

  /**
   * Contends.
   *
   * @param args none: others could see them, and URLs have passwords
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Map<String, String> settings = new HashMap<>();
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      int equals = line.indexOf('=');
      settings.put(line.substring(0, equals), line.substring(equals + 1));
    }
    int process = number(settings, "process");
    int threads = number(settings, "threads");
    int port = number(settings, "resource");
    Duration ttl = Duration.ofMillis(number(settings, "ttl"));
    long seed = Long.parseLong(setting(settings, "seed"));
    AtomicBoolean over = new AtomicBoolean();
    List<Thread> all = new ArrayList<>();
    try (HistoryFile history = new HistoryFile(Path.of(setting(settings, "history")));
        LockClient locks = connect(setting(settings, "url"), ttl, process)) {
      for (int i = 0; i < threads + 2; i++) {
        int worker = process * Event.PROCESS + i + 1;
        int role = i - threads;
        ResourceLine line = new ResourceLine(port, worker);
        Contender contender =
            new Contender(
                locks, line, history, worker, number(settings, "hot"), ttl, seed * 31 + worker);
        Thread thread =
            new Thread(
                () -> {
                  try (line) {
                    if (role == 0) {
                      contender.guardNothing(() -> !over.get());
                    } else if (role == 1) {
                      contender.lockNaively(() -> !over.get());
                    } else {
                      contender.contend(() -> !over.get());
                    }
                  } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                },
                "contender-" + worker);
        thread.start();
        all.add(thread);
      }
      System.out.println("ready");
      String word = in.readLine();
      over.set(true);
      if (word == null) {
        Runtime.getRuntime().halt(1);
      }
      for (Thread thread : all) {
        thread.join();
      }
    }
    System.out.println("done");
  }

  /** A store that is troubled right now is tried again. */
  private static LockClient connect(String url, Duration ttl, int process)
      throws InterruptedException {
    for (int tries = 1; ; tries++) {
      try {
        return LockClient.builder().url(url).ttl(ttl).name("contender-" + process).build();
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
