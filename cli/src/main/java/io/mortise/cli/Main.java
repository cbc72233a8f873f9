package io.mortise.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Entry point of the {@code mortise} tool. */
@Command(
    name = "mortise",
    description = "Distributed locks on the command line.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class)
public final class Main implements Runnable {

  @Spec private CommandSpec spec;

  private Main() {}

  /**
   * Runs one command and ends the process with its exit code.
   *
   * @param args the words of the command line
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "No command given.");
  }

  /** The version that the build wrote into the manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"mortise " + (version == null ? "(not packaged)" : version)};
    }
  }
}
