package shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.convert.DurationStyle;

/**
 * The rules that the files of {@code deploy} keep. Their command lines run, with a store of the
 * test and {@code true} as the command.
 */
class DeploymentFilesTest {
  /** How long {@code LockClient.close()} may take on a database that is silent. */
  private static final Duration CLOSE = Duration.ofSeconds(21);

  private static final String POD = "spec.template.spec.";
  private static final String SHOP = POD + "containers[0].";
  private static final String JOB = "spec.jobTemplate.spec.";

  @TempDir private Path folder;

  private static String deployment() {
    return DeploymentFiles.text("deployment.yaml");
  }

  private static List<String> violationsOfDeployment(String text) {
    Properties yaml = DeploymentFiles.yaml(text);
    Map<String, String> environment = DeploymentFiles.environment(yaml);
    List<String> found = new ArrayList<>();
    Duration phase =
        DurationStyle.detectAndParse(
            environment.getOrDefault("SPRING_LIFECYCLE_TIMEOUTPERSHUTDOWNPHASE", "30s"));
    Duration preStop =
        Duration.ofSeconds(
            Long.parseLong(yaml.getProperty(SHOP + "lifecycle.preStop.exec.command[1]")));
    Duration needed = preStop.plus(phase.multipliedBy(2)).plus(CLOSE);
    Duration grace = Duration.ofSeconds((int) yaml.get(POD + "terminationGracePeriodSeconds"));
    if (grace.compareTo(needed) < 0) {
      found.add("grace of " + grace + " is less than " + needed);
    }
    if (!yaml.get(SHOP + "ports[0].containerPort").equals(8080)) {
      found.add("not the shop's port");
    }
    Map.of("startup", "liveness", "liveness", "liveness", "readiness", "readiness")
        .forEach(
            (probe, group) -> {
              String path = SHOP + probe + "Probe.httpGet.";
              if (!("/actuator/health/" + group).equals(yaml.getProperty(path + "path"))) {
                found.add(probe + " does not ask for " + group);
              }
              if (!yaml.getProperty(SHOP + "ports[0].name")
                  .equals(yaml.getProperty(path + "port"))) {
                found.add(probe + " asks at another port");
              }
            });
    for (String secret : List.of("MORTISE_URL", "SPRING_DATASOURCE_PASSWORD")) {
      if (!environment.getOrDefault(secret, "").startsWith("secret:")) {
        found.add(secret + " is not from a secret");
      }
    }
    return found;
  }

  @Test
  void givenDeployment_whenChecked_thenItsGraceIsEnough_andItsProbesAreThoseOfTheShop()
      throws IOException {
    assertThat(violationsOfDeployment(deployment())).isEmpty();
    String settings = Files.readString(Path.of("src/main/resources/application.yaml"));
    assertThat(DeploymentFiles.yaml(settings)).as("8080").doesNotContainKey("server.port");
  }

  @Test
  void givenDeploymentsThatAreWrong_whenChecked_thenEachIsFound() {
    Map.of(
            "PeriodSeconds: 75", "PeriodSeconds: 65",
            "value: 20s", "value: 40s",
            "sleep, \"5\"", "sleep, \"20\"",
            "containerPort: 8080", "containerPort: 8081",
            "health/readiness", "health",
            "readiness, port: http", "readiness, port: 8081",
            "name: MORTISE_URL", "name: MORTISE_STORE",
            "valueFrom: { secretKeyRef: { name: shop, key: lock-store } }", "value: redis://cache")
        .forEach(
            (right, wrong) -> {
              assertThat(deployment()).contains(right);
              assertThat(violationsOfDeployment(deployment().replace(right, wrong)))
                  .as(wrong)
                  .hasSize(1);
            });
  }

  @Test
  void givenCronJob_thenItsCommandLineRuns_andItsStoreIsTheMountedSecret() throws Exception {
    Properties yaml = DeploymentFiles.yaml(DeploymentFiles.text("cronjob.yaml"));
    String pod = JOB + "template.spec.";
    assertRuns(
        DeploymentFiles.list(yaml, pod + "containers[0].args"),
        yaml.getProperty(pod + "containers[0].volumeMounts[0].mountPath") + "/url",
        Duration.ofSeconds((int) yaml.get("spec.startingDeadlineSeconds")));
    assertThat(yaml.getProperty(pod + "volumes[0].name"))
        .isEqualTo(yaml.getProperty(pod + "containers[0].volumeMounts[0].name"));
    assertThat(yaml).containsEntry("spec.concurrencyPolicy", "Forbid");
    // Kubernetes refuses a podFailurePolicy with another restart policy.
    assertThat(yaml).containsEntry(pod + "restartPolicy", "Never");
    String rule = JOB + "podFailurePolicy.rules[0].";
    assertThat(yaml).containsEntry(rule + "onExitCodes.operator", "In");
    assertThat(yaml).containsEntry(rule + "action", "FailJob");
    assertThat(DeploymentFiles.list(yaml, rule + "onExitCodes.values")).containsExactly("64", "75");
  }

  @Test
  void givenUnitsOfSystemd_thenTheCommandLineRuns_andTheStoreIsACredential() throws Exception {
    Map<String, String> service =
        DeploymentFiles.unit(DeploymentFiles.text("nightly-report.service"));
    Map<String, String> timer = DeploymentFiles.unit(DeploymentFiles.text("nightly-report.timer"));
    List<String> words = List.of(service.get("Service.ExecStart").split(" "));
    assertThat(words.get(0)).as("where the package has it").isEqualTo("/usr/bin/mortise");
    String credential = service.get("Service.LoadCredential").split(":")[0];
    assertThat(timer.get("Timer.AccuracySec")).isEqualTo("1min");
    assertRuns(words.subList(1, words.size()), "%d/" + credential, Duration.ofMinutes(1));
    assertThat(timer).doesNotContainKeys("Timer.Persistent", "Timer.RandomizedDelaySec");
    assertThat(service)
        .containsEntry("Service.SuccessExitStatus", "75 143")
        .containsEntry("Service.KillMode", "mixed");
  }

  /** With a program that is there in place of {@code mortise}, which need not be installed. */
  @Test
  void givenUnitsOfSystemd_whenSystemdVerifiesThem_thenItFindsNothing() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/systemd-analyze")), "needs systemd-analyze");
    List<String> command = new ArrayList<>(List.of("systemd-analyze", "verify", "--man=no"));
    for (String name : List.of("nightly-report.service", "nightly-report.timer")) {
      String text = DeploymentFiles.text(name).replace("/usr/bin/mortise", "/bin/true");
      command.add(Files.writeString(folder.resolve(name), text).toString());
    }
    assertThat(run(command, 0)).doesNotContain("nightly-report");
    Path broken = folder.resolve("nightly-report.service");
    Files.writeString(broken, Files.readString(broken).replace("KillMode", "KilMode"));
    assertThat(run(command, 0)).contains("KilMode");
  }

  /** What is in the package, and that it runs without Java, the rehearsal of a release shows. */
  @Test
  void givenContainerfile_thenItTakesThePackage_andRunsItsProgram() {
    String file = DeploymentFiles.text("Containerfile");
    assertThat(file).contains("COPY mortise_*.deb /tmp/");
    assertThat(DeploymentFiles.words(file, "ENTRYPOINT")).containsExactly("tini", "--", "mortise");
    assertThat(DeploymentFiles.words(file, "CMD")).containsExactly("--help");
  }

  /**
   * Runs a command line of the tool twice.
   *
   * @param store the file of the store's URL
   * @param apart how far two processes of one tick may be apart
   */
  private void assertRuns(List<String> words, String store, Duration apart) throws Exception {
    int at = words.indexOf("--store");
    assertThat(words.get(at + 1)).isEqualTo("@" + store);
    Duration atLeast = DurationStyle.detectAndParse(words.get(words.indexOf("--at-least") + 1));
    assertThat(atLeast).isGreaterThan(apart);
    Path url = folder.resolve("url");
    Files.writeString(url, "jdbc:sqlite:" + folder.resolve("locks.db"));
    List<String> command = new ArrayList<>(Instance.tool());
    command.addAll(words.subList(0, words.indexOf("--") + 1));
    command.set(command.indexOf("@" + store), "@" + url);
    command.add("true");
    run(command, 0);
    // Another of this tick, and one that tries again.
    run(command, 75);
    command.set(command.indexOf("--at-least"), "--at-last");
    run(command, 64);
  }

  private String run(List<String> command, int status) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = process.waitFor(100, TimeUnit.SECONDS);
    process.destroyForcibly();
    String said = Files.readString(output);
    assertThat(ended).as(said).isTrue();
    assertThat(process.exitValue()).as(said).isEqualTo(status);
    return said;
  }

  @Test
  void givenFolder_thenItHasOnlyFilesThatTheseTestsCheck() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("deploy"))) {
      Set<String> names = new HashSet<>();
      files.forEach(each -> names.add(each.getFileName().toString()));
      assertThat(names)
          .containsExactlyInAnyOrder(
              "deployment.yaml",
              "cronjob.yaml",
              "nightly-report.service",
              "nightly-report.timer",
              "Containerfile");
    }
  }
}
