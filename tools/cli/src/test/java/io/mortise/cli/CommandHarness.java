package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs the tool in this process, on a client without a store. */
abstract class CommandHarness {
  final FakeClient client = new FakeClient();
  final List<String> urls = new ArrayList<>();
  final Map<String, String> variables =
      new HashMap<>(Map.of("MORTISE_STORE", "fake:", "PATH", "/bin:/usr/bin"));
  final ByteArrayOutputStream out = new ByteArrayOutputStream();
  final ByteArrayOutputStream err = new ByteArrayOutputStream();

  final int execute(String... args) {
    return execute(
        (url, ttl) -> {
          urls.add(url);
          return client;
        },
        args);
  }

  final int executeFailing(RuntimeException trouble, String... args) {
    // Options of a command follow it.
    List<String> words = new ArrayList<>(List.of(args));
    words.sort((a, b) -> Boolean.compare(a.startsWith("-"), b.startsWith("-")));
    return execute(
        (url, ttl) -> {
          throw trouble;
        },
        words.toArray(String[]::new));
  }

  final int execute(CliEnvironment.StoreOpener storeOpener, String... args) {
    return Main.execute(
        new CliEnvironment(
            variables,
            storeOpener,
            InputStream.nullInputStream(),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8)),
        args);
  }

  /** Joins lines, to ignore line breaks. */
  static String words(String text) {
    return text.replaceAll("\\s+", " ");
  }

  final String out() {
    return out.toString(UTF_8);
  }

  final String err() {
    return err.toString(UTF_8);
  }
}
