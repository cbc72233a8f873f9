package io.mortise.cli.help;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Shows commands and options in groups by purpose. */
public final class HelpLayout {
  private static final Map<String, List<String>> COMMANDS = new LinkedHashMap<>();
  private static final Map<String, List<String>> OPTIONS = new LinkedHashMap<>();

  /** The group of commands and options without a group. */
  private static final String OTHERS = "Other";

  static {
    COMMANDS.put("Run under a lock", List.of("run"));
    COMMANDS.put("Look", List.of("ls", "show", "waits", "top", "console"));
    COMMANDS.put("Intervene", List.of("evict"));
    COMMANDS.put("Check the store", List.of("doctor"));
    COMMANDS.put("More", List.of("events", "guarantees", "hazards", "torture"));
    COMMANDS.put("About this tool", List.of("help", "completion", "man"));
    OPTIONS.put("Getting the lock", List.of("--wait", "--shared", "--leader", "--label"));
    OPTIONS.put(
        "How long it is held",
        List.of("--ttl", "--at-least", "--at-most", "--hold-on-crash", "--grace"));
    OPTIONS.put(
        "Which locks", List.of("--lock", "--all", "--state", "--sort", "--longest", "--limit"));
    OPTIONS.put("What is ended", List.of("--attempt", "--now", "--yes"));
    OPTIONS.put("Servers and load", List.of("--servers", "--processes", "--threads", "--bulk"));
    OPTIONS.put("Faults", List.of("--faults", "--minutes", "--patience", "--seed"));
    OPTIONS.put(
        "Page", List.of("--open", "--listen", "--behind", "--token", "--allow", "--budget"));
    OPTIONS.put("Store", List.of("--store", "--also"));
    OPTIONS.put(
        "Output",
        List.of(
            "--json",
            "--markdown",
            "--watch",
            "--report",
            "--all-to",
            "--quiet",
            "--verbose",
            "--help",
            "--version"));
  }

  private HelpLayout() {}

  /** Applies the layout to a command and its subcommands. */
  public static void applyTo(CommandLine line) {
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, HelpLayout::commands);
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpLayout::options);
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, help -> "");
    line.getSubcommands().values().forEach(HelpLayout::applyTo);
  }

  /** The heading of a command. */
  private static String headingOfCommand(String name) {
    return heading(COMMANDS, name);
  }

  /** The heading of an option. */
  private static String headingOfOption(OptionSpec option) {
    return heading(OPTIONS, option.longestName());
  }

  private static String heading(Map<String, List<String>> groups, String name) {
    return groups.entrySet().stream()
        .filter(group -> group.getValue().contains(name))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(OTHERS);
  }

  /** The commands below this one, in groups. */
  public static String commands(Help help) {
    Map<String, List<CommandLine>> groups = grouped(COMMANDS);
    help.commandSpec().subcommands().values().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .forEach(
            command ->
                groups
                    .computeIfAbsent(
                        headingOfCommand(command.getCommandName()), heading -> new ArrayList<>())
                    .add(command));
    int width =
        help.commandSpec().subcommands().keySet().stream().mapToInt(String::length).max().orElse(0);
    StringBuilder text = new StringBuilder();
    groups.forEach(
        (heading, commands) -> {
          if (!commands.isEmpty()) {
            text.append(headline(help, heading));
          }
          for (CommandLine command : commands) {
            Help.TextTable table =
                Help.TextTable.forColumns(
                    help.colorScheme(),
                    new Help.Column(width + 4, 2, Help.Column.Overflow.SPAN),
                    new Help.Column(
                        help.commandSpec().usageMessage().width() - width - 4,
                        2,
                        Help.Column.Overflow.WRAP));
            table.addRowValues(
                help.colorScheme().commandText(command.getCommandName()),
                help.colorScheme().text(brief(command.getCommandSpec())));
            text.append(table);
          }
        });
    return text.toString();
  }

  /** A command's purpose, in one line. */
  public static String brief(CommandSpec command) {
    UsageMessageSpec message = command.usageMessage();
    String[] lines = message.header().length > 0 ? message.header() : message.description();
    return lines.length == 0 ? "" : lines[0];
  }

  /** The options of a command, in groups. */
  public static String options(Help help) {
    List<OptionSpec> all =
        help.commandSpec().options().stream().filter(option -> !option.hidden()).toList();
    Map<String, List<OptionSpec>> groups = grouped(OPTIONS);
    all.forEach(
        option ->
            groups
                .computeIfAbsent(headingOfOption(option), heading -> new ArrayList<>())
                .add(option));
    StringBuilder text = new StringBuilder();
    groups.forEach(
        (heading, options) -> {
          if (!options.isEmpty()) {
            Help.Layout layout = help.createDefaultLayout(all, List.of(), help.colorScheme());
            layout.addOptions(options, help.parameterLabelRenderer());
            text.append(headline(help, heading)).append(layout);
          }
        });
    return text.toString();
  }

  private static String headline(Help help, String heading) {
    return help.createHeading("%n" + heading + "%n");
  }

  private static <T> Map<String, List<T>> grouped(Map<String, List<String>> headings) {
    Map<String, List<T>> groups = new LinkedHashMap<>();
    headings.keySet().forEach(heading -> groups.put(heading, new ArrayList<>()));
    groups.put(OTHERS, new ArrayList<>());
    return groups;
  }
}
