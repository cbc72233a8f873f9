package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.cli.output.Terminal;
import io.mortise.cli.top.TopSession;
import io.mortise.console.ConsoleAction;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code mortise top}: the console at a terminal. */
@Command(
    name = "top",
    description = "Watch locks at a terminal, the worst first, and end holds if that is allowed.",
    footer = {
      "",
      "Keys: arrows and Enter open a lock, / filters, s orders, w shows the waits, ? lists all keys, q or"
          + " Ctrl-C ends.",
      "",
      "It only looks, unless --allow says more. Looking makes nothing in the store, and takes no more than 1%% of its"
          + " time. Without a terminal use 'mortise ls --watch'. With NO_COLOR in the environment it has no colours."
    })
final class TopCommand implements Callable<Integer> {
  private static final double SHARE = 0.01;

  private final CliEnvironment cliEnvironment;

  @Spec private CommandSpec spec;
  @Mixin private StoreOptions store;

  @Option(
      names = "--allow",
      split = ",",
      paramLabel = "ACTION",
      description =
          "What may be done besides: close (e: tell a holder to let go), break (E: free a lock at once), open (E: a lock"
              + " that is kept shut). Separated by commas.")
  private Set<ConsoleAction> allowed = new TreeSet<>();

  TopCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() throws IOException {
    String type = cliEnvironment.variables().getOrDefault("TERM", "dumb");
    boolean isTerminal = Terminal.STDIN.isPresent() && Terminal.STDOUT.isPresent();
    if (!isTerminal || type.isEmpty() || type.equals("dumb")) {
      throw new ParameterException(
          spec.commandLine(),
          "There is no terminal that has a screen. Use 'mortise ls --sort trouble --watch', or 'mortise ls --json' for"
              + " a program.");
    }
    boolean colours = cliEnvironment.variables().getOrDefault("NO_COLOR", "").isEmpty();
    try (LockClient client = store.watch()) {
      TopSession session = new TopSession(client.admin(), SHARE, allowed);
      DeferredStderr log = new DeferredStderr();
      try {
        session.run(cliEnvironment.out(), colours, done -> tell(log, done));
      } finally {
        log.release();
      }
    }
    return ExitStatus.OK;
  }

  private void tell(DeferredStderr log, List<String> done) {
    log.release();
    if (!store.quiet) {
      done.forEach(text -> cliEnvironment.err().println("mortise: " + text));
    }
  }

  /** Delays the log, which would overwrite the screen, until the screen is closed. */
  private static final class DeferredStderr {
    private static final int MOST = 100_000;

    private final PrintStream before = System.err;
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

    DeferredStderr() {
      System.setErr(
          new PrintStream(kept, true, Charset.defaultCharset()) {
            @Override
            public void write(byte[] bytes, int from, int length) {
              if (kept.size() < MOST) {
                super.write(bytes, from, length);
              }
            }
          });
    }

    synchronized void release() {
      System.setErr(before);
      before.print(kept.toString(Charset.defaultCharset()));
      before.flush();
      kept.reset();
    }
  }
}
