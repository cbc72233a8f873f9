package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
import io.mortise.cli.LockSelection.Order;
import io.mortise.cli.output.OutputSanitizer;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * What completion asks: the names of locks that begin so, one a line. A name with a character that
 * a terminal would obey, or a line break, is left out: nobody can type it.
 */
@Command(name = "complete-names", hidden = true, description = "Print names of locks.")
final class CompleteNamesCommand implements Callable<Integer> {
  private static final int MOST = 200;

  private final CliEnvironment cliEnvironment;

  @Mixin private StoreOptions store;

  @Parameters(
      paramLabel = "PREFIX",
      arity = "0..1",
      defaultValue = "",
      description = "Their begin.")
  private String prefix = "";

  CompleteNamesCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() {
    try (LockClient client = store.look()) {
      new LockSelection(prefix, Set.of(), Order.NAME, MOST)
          .from(client.admin()).locks().stream()
              .map(LockInfo::name)
              .filter(name -> name.equals(OutputSanitizer.text(name)))
              .forEach(cliEnvironment.out()::println);
    }
    return ExitStatus.OK;
  }
}
