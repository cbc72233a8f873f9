package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.cli.child.BrowserOpener;
import io.mortise.console.Console;
import io.mortise.console.ConsoleAction;
import io.mortise.console.ConsoleBuilder;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code mortise console}: a web page of the locks of a store. */
@Command(
    name = "console",
    description =
        "Serve a web page of locks, their holders and waiters, and what the store guarantees.",
    footer = {
      "",
      "It prints a link. Everybody who has the link can use the page. Ctrl-C ends it. It listens on this host"
          + " only: from elsewhere use a tunnel, such as ssh -L 7420:127.0.0.1:7420 HOST, or a proxy with TLS and --behind.",
      "",
      "It only looks, unless --allow says more. Looking makes nothing in the store, and takes no more of its time than"
          + " --budget."
    })
final class ConsoleCommand implements Callable<Integer> {
  private static final Pattern ADDRESS = Pattern.compile("(?:(.*):)?(\\d{1,5})");
  private static final Pattern SHARE = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,4})?)%");

  private final CliEnvironment cliEnvironment;

  @Spec private CommandSpec spec;
  @Mixin private StoreOptions store;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description =
          "Where to listen, and nowhere else. Default: 127.0.0.1:7420; or the next free port, without --behind and --token.")
  private @Nullable String listen;

  @Option(
      names = "--allow",
      split = ",",
      paramLabel = "ACTION",
      description =
          "What the page may do besides: close (tell a holder to let go), break (free a lock at once), open (a lock"
              + " that is kept shut). Separated by commas.")
  private Set<ConsoleAction> allowed = EnumSet.noneOf(ConsoleAction.class);

  @Option(
      names = "--budget",
      paramLabel = "SHARE",
      description = "How much of the store's time looking may take. Default: 1%%.")
  private String budget = "1%";

  @Option(
      names = "--history",
      paramLabel = "FILE",
      description =
          "A SQLite file that keeps the history for the next start. Made if it is missing.")
  private @Nullable Path history;

  @Option(
      names = "--token",
      paramLabel = "@FILE",
      description = "A file with the link's token. Default: a new one at each start.")
  private @Nullable String token;

  @Option(
      names = "--behind",
      paramLabel = "URL",
      description = "Where a proxy serves it to people, like https://ops.example.com/locks.")
  private @Nullable String behind;

  @Option(
      names = "--open",
      description = "Open the link in the browser of this desktop too. Not as root.")
  private boolean open;

  ConsoleCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() {
    InetSocketAddress address = listen == null ? null : address(listen);
    if (address != null) {
      refuseOpen(address);
    }
    try (LockClient client = store.watch()) {
      ConsoleBuilder settings =
          Console.builder(client).allow(allowed).budget(share()).diagnostics(this::examine);
      if (address != null) {
        settings.listen(address);
      }
      if (behind != null) {
        settings.behind(url(behind));
      }
      if (token != null) {
        settings.token(read(token));
      }
      String namespace = StoreUrl.parse(store.url()).parameter("namespace");
      if (namespace != null) {
        settings.namespace(namespace);
      }
      if (history != null) {
        settings.history(history);
      }
      try (Console console = start(settings)) {
        say(console);
        if (open) {
          open(console);
        }
        new CountDownLatch(1).await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return ExitStatus.OK;
  }

  private static Console start(ConsoleBuilder settings) {
    try {
      return settings.start();
    } catch (UncheckedIOException e) {
      throw new CliException(ExitStatus.FAILED, String.valueOf(e.getMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitStatus.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Prints the link even with --quiet: the page cannot be opened without it. */
  private void say(Console console) {
    String may =
        allowed.isEmpty()
            ? "read-only"
            : "may "
                + allowed.stream().map(ConsoleAction::toString).collect(Collectors.joining(", "));
    boolean moved = listen == null && console.address().getPort() != ConsoleBuilder.DEFAULT_PORT;
    cliEnvironment
        .err()
        .println(
            "mortise: console on "
                + console.url()
                + " ("
                + may
                + (moved ? "; port " + ConsoleBuilder.DEFAULT_PORT + " is taken" : "")
                + ")");
  }

  private void open(Console console) throws InterruptedException {
    String obstacle =
        BrowserOpener.ofProcess(cliEnvironment.variables())
            .open(console.url(), Path.of(System.getProperty("java.io.tmpdir")));
    if (obstacle != null) {
      cliEnvironment.err().println("mortise: no browser was opened: " + obstacle + ".");
    }
  }

  private StoreReport examine() {
    try (LockStore opened = store.examine()) {
      return StoreReport.of(opened);
    }
  }

  private InetSocketAddress address(String listen) {
    Matcher parts = ADDRESS.matcher(listen);
    if (!parts.matches() || Integer.parseInt(parts.group(2)) > 65_535) {
      throw wrong("--listen takes HOST:PORT, like 127.0.0.1:7420, and not '" + listen + "'.");
    }
    String host = parts.group(1) == null || parts.group(1).isEmpty() ? "127.0.0.1" : parts.group(1);
    return new InetSocketAddress(host, Integer.parseInt(parts.group(2)));
  }

  private void refuseOpen(InetSocketAddress address) {
    if (behind == null && !address.isUnresolved() && !address.getAddress().isLoopbackAddress()) {
      throw wrong(
          "The console listens on this host only, and '"
              + address.getHostString()
              + "' is reached from others. For people elsewhere put a proxy with TLS before it, and name"
              + " its address: --behind URL.");
    }
  }

  private double share() {
    Matcher number = SHARE.matcher(budget);
    double percent = number.matches() ? Double.parseDouble(number.group(1)) : 0;
    if (percent <= 0 || percent > 100) {
      throw wrong("--budget takes a share above 0% and up to 100%, like 1% or 0.5%.");
    }
    return percent / 100;
  }

  private URI url(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw wrong("--behind takes a URL like https://ops.example.com/locks.");
    }
  }

  private String read(String option) {
    if (!option.startsWith("@")) {
      throw wrong("--token takes @FILE: others see a command line.");
    }
    try {
      return Files.readString(Path.of(option.substring(1))).strip();
    } catch (IOException | InvalidPathException e) {
      throw new CliException(
          ExitStatus.USAGE, "Cannot read the token from '" + option.substring(1) + "'.", e);
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
