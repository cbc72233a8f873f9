package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.cli.output.LockListing;
import io.mortise.cli.output.Pager;
import io.mortise.cli.output.Terminal;
import io.mortise.cli.view.LockSelection;
import io.mortise.cli.view.LockSelection.Selected;
import io.mortise.cli.view.LockSelection.SortOrder;
import io.mortise.cli.view.LockSelection.StateFilter;
import io.mortise.console.view.JsonWriter;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise ls}: the locks of a store. */
@Command(
    name = "ls",
    description = "List the locks that are held, waited for or shut.",
    footer = {
      "",
      "Each line is a snapshot of one lock. HOLDER is host:process, +n that n more hold it too; (gone) that its process"
          + " is. TOKEN is the fencing token, AGE how long the first of them has held.",
      "",
      "Order 'trouble' has those first whose holder is gone while others wait, then those that are waited for longest."
    })
final class ListCommand implements Callable<Integer> {
  /** Moves the cursor to the upper left and clears the screen. */
  private static final byte[] CLEAR = "\u001b[H\u001b[J".getBytes(StandardCharsets.US_ASCII);

  private final CliEnvironment cliEnvironment;

  @Spec private CommandSpec spec;
  @Mixin private StoreOptions store;

  @Option(
      names = {"-a", "--all"},
      description = "Also those that are free but have been used.")
  private boolean all;

  @Option(
      names = "--state",
      split = ",",
      paramLabel = "STATE",
      description = "Only those that are one of these: ${COMPLETION-CANDIDATES}.")
  private Set<StateFilter> states = new TreeSet<>();

  @Option(
      names = "--sort",
      paramLabel = "ORDER",
      defaultValue = "name",
      description = "One of ${COMPLETION-CANDIDATES}. Default: name.")
  private SortOrder order = SortOrder.NAME;

  @Option(names = "--limit", paramLabel = "N", description = "The first N in that order.")
  private int limit = Integer.MAX_VALUE;

  @Option(
      names = "--watch",
      arity = "0..1",
      paramLabel = "DURATION",
      fallbackValue = "2s",
      description =
          "Look again and again, each 2s or as often as said (--watch=10s), until Ctrl-C.")
  private @Nullable Duration watch;

  @Parameters(
      paramLabel = "PREFIX",
      arity = "0..1",
      defaultValue = "",
      description = "Only those whose names begin so.")
  private String prefix = "";

  @Option(names = "--json", description = "Write a JSON array of what 'show --json' writes.")
  private boolean json;

  @Option(
      names = "--names",
      hidden = true,
      description = "For completion: names that can be typed, one a line, and nothing else.")
  private boolean names;

  ListCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() throws InterruptedException {
    if (limit < 1) {
      throw new ParameterException(spec.commandLine(), "--limit takes a number from 1 on.");
    }
    if (watch != null && (json || watch.isZero())) {
      throw new ParameterException(
          spec.commandLine(),
          "--watch takes a duration above 0, and does not go with --json: look again in a loop of your own.");
    }
    Set<StateFilter> wanted = new TreeSet<>(states);
    if (all && wanted.isEmpty()) {
      wanted.addAll(List.of(StateFilter.values()));
    }
    LockSelection selection = new LockSelection(prefix, wanted, order, limit);
    try (LockClient client = store.look()) {
      if (watch != null) {
        watch(client, selection, watch);
      } else {
        print(selection.from(client.admin()));
      }
    }
    return ExitStatus.OK;
  }

  private void print(Selected selected) {
    PrintStream out = cliEnvironment.out();
    if (names) {
      selected.locks().stream()
          .map(LockInfo::name)
          .filter(name -> name.equals(OutputSanitizer.text(name)))
          .forEach(out::println);
      return;
    }
    if (json) {
      out.println(JsonWriter.write(selected.locks().stream().map(LockFormatter::json).toList()));
      return;
    }
    if (selected.locks().isEmpty()) {
      store.say(nothing(selected.silent()));
      return;
    }
    Pager.print(
        out,
        cliEnvironment.variables(),
        LockListing.lines(selected.locks(), Terminal.STDOUT.size().columns()));
    if (selected.found() > selected.locks().size()) {
      store.say("the first " + selected.locks().size() + " of " + selected.found() + ".");
    }
  }

  private String nothing(int silent) {
    String what = all ? "is known" : states.isEmpty() ? "is held or waited for" : "is like that";
    String which = prefix.isEmpty() ? "" : " whose name begins with '" + prefix + "'";
    String hint =
        silent > 0 && states.contains(StateFilter.GONE)
            ? silent
                + (silent == 1 ? " looks gone" : " look gone")
                + ", not judged: mortise ls --sort trouble"
            : LockListing.hint(prefix);
    return "no lock"
        + which
        + " "
        + what
        + store.place()
        + "."
        + (hint.isEmpty() ? "" : " " + hint);
  }

  /** Shows the table repeatedly, in the same place on a terminal. */
  private void watch(LockClient client, LockSelection selection, Duration interval)
      throws InterruptedException {
    PrintStream out = cliEnvironment.out();
    boolean hasScreen =
        Terminal.STDOUT.isPresent()
            && !cliEnvironment.variables().getOrDefault("TERM", "").equals("dumb");
    while (true) {
      Terminal.Size size = Terminal.STDOUT.size();
      List<String> lines = new ArrayList<>();
      String head =
          "mortise ls"
              + (prefix.isEmpty() ? "" : " " + OutputSanitizer.text(prefix))
              + ", each "
              + DurationText.format(interval)
              + ", "
              + LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
      try {
        Selected selected = selection.from(client.admin());
        lines.add(head + ": " + selected.found() + " locks");
        if (!selected.locks().isEmpty()) {
          lines.addAll(LockListing.lines(selected.locks(), size.columns()));
        }
      } catch (StoreUnavailableException e) {
        lines.add(head + ": " + OutputSanitizer.text(String.valueOf(e.getMessage())));
      }
      if (lines.size() >= size.rows()) {
        int hidden = lines.size() - size.rows() + 2;
        lines.subList(size.rows() - 2, lines.size()).clear();
        lines.add("… and " + hidden + " more");
      }
      if (hasScreen) {
        out.write(CLEAR, 0, CLEAR.length);
      }
      lines.forEach(out::println);
      out.flush();
      TimeUnit.NANOSECONDS.sleep(interval.toNanos());
    }
  }
}
