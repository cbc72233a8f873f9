package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockPage;
import io.mortise.cli.output.JsonWriter;
import io.mortise.cli.output.LockFormatter;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code mortise ls}: the locks of a store. */
@Command(
    name = "ls",
    description = "List the locks that are held, waited for or closed.",
    footer = {
      "",
      "Each line is a snapshot of one lock. HOLDER is host:process, +n that n more hold it too; TOKEN is the fencing"
          + " token, AGE how long the first of them has held."
    })
final class ListCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Mixin private StoreOptions store;

  @Option(
      names = {"-a", "--all"},
      description = "Also those that are free but have been used.")
  private boolean all;

  @Parameters(
      paramLabel = "PREFIX",
      arity = "0..1",
      defaultValue = "",
      description = "Only those whose names begin so.")
  private String prefix = "";

  @Option(names = "--json", description = "Write a JSON array of what 'show --json' writes.")
  private boolean json;

  ListCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() {
    List<LockInfo> locks = new ArrayList<>();
    try (LockClient client = store.connect(store.url(), null)) {
      String next = null;
      do {
        LockPage page =
            all
                ? client.admin().listAll(prefix, next, LockAdmin.MAX_PAGE)
                : client.admin().list(prefix, next, LockAdmin.MAX_PAGE);
        locks.addAll(page.locks());
        next = page.next();
      } while (next != null);
    }
    PrintStream out = cliEnvironment.out();
    if (json) {
      out.println(JsonWriter.write(locks.stream().map(LockFormatter::json).toList()));
    } else if (!locks.isEmpty()) {
      LockFormatter.table(locks).forEach(out::println);
    } else if (!store.quiet) {
      cliEnvironment.err().println("mortise: no lock is held" + (all ? " or known." : "."));
    }
    return ExitStatus.OK;
  }
}
