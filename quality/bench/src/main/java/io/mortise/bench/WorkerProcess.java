package io.mortise.bench;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subjects;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Another process of the bench, a {@link Worker}, which answers each question with one line. Ended
 * by {@link #close()}, and ends by itself with this process, whose end closes its input.
 */
final class WorkerProcess implements AutoCloseable {
  private static final long ANSWER_SECONDS = 120;
  private static final String ENDED = "{\"failed\":\"the process ended\"}";

  private final Process process;
  private final Writer questions;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private long asked;

  WorkerProcess(int number, StoreUrls storeUrls, Path cell) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                // C2 in several JVMs takes two processors for minutes, which would be measured. C1
                // is done soon, and fast enough for code that waits on sockets.
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName(),
                Integer.toString(number),
                cell.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    questions = process.outputWriter(StandardCharsets.UTF_8);
    Thread reader = new Thread(this::read, "bench-child-" + number);
    reader.setDaemon(true);
    reader.start();
    // Not as arguments, which all users of the machine can see: URLs have passwords.
    say(storeUrls.urls());
  }

  private void say(Map<?, ?> line) throws IOException {
    questions.write(JSON.std.asString(line));
    questions.write('\n');
    questions.flush();
  }

  private void read() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(Worker.MARK)) {
          answers.add(line.substring(Worker.MARK.length()));
        }
      }
    } catch (IOException e) {
      // The process has ended; reported below.
    }
    answers.add(ENDED);
  }

  /** Asks without waiting for the {@link #answer()}. */
  void tell(String verb, Subjects subject, String lock, Map<String, Object> more)
      throws IOException {
    Map<String, Object> question = new LinkedHashMap<>(more);
    question.put("number", ++asked);
    question.put("verb", verb);
    question.put("subject", subject.name());
    question.put("lock", lock);
    say(question);
  }

  /** Returns the answer to the last question, skipping answers that were not awaited. Blocks. */
  Map<String, Object> answer() throws IOException, InterruptedException {
    while (true) {
      String line = answers.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
      if (line == null) {
        throw new IOException("A process of the bench said nothing for " + ANSWER_SECONDS + " s.");
      }
      Map<String, Object> answer = JSON.std.mapFrom(line);
      if (line.equals(ENDED)) {
        answers.add(ENDED);
      } else if (number(answer, "number") != asked) {
        continue;
      }
      Object failure = answer.get("failed");
      if (failure != null) {
        throw new IOException(failure.toString());
      }
      return answer;
    }
  }

  Map<String, Object> ask(String verb, Subjects subject, String lock, Map<String, Object> more)
      throws IOException, InterruptedException {
    tell(verb, subject, lock, more);
    return answer();
  }

  /** Asks several processes the same question and returns their answers. */
  static List<Map<String, Object>> askAll(
      List<WorkerProcess> children,
      String verb,
      Subjects subject,
      String lock,
      Map<String, Object> more)
      throws IOException, InterruptedException {
    for (WorkerProcess workerProcess : children) {
      workerProcess.tell(verb, subject, lock, more);
    }
    List<Map<String, Object>> all = new java.util.ArrayList<>();
    for (WorkerProcess workerProcess : children) {
      all.add(workerProcess.answer());
    }
    return all;
  }

  /** CPU time of the process so far, as the system counts it. */
  long cpuNanos() {
    return process
        .info()
        .totalCpuDuration()
        .orElseThrow(() -> new IllegalStateException("A process of the bench has ended."))
        .toNanos();
  }

  static long number(Map<String, Object> answer, String field) {
    if (answer.get(field) instanceof Number number) {
      return number.longValue();
    }
    throw new IllegalStateException("The answer has no number '" + field + "': " + answer);
  }

  @Override
  public void close() throws IOException {
    try {
      questions.close();
    } catch (IOException e) {
      // The process has ended already.
    }
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
