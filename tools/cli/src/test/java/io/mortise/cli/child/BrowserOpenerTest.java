package io.mortise.cli.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The link gets to the browser, and its token into no command line. */
class BrowserOpenerTest {
  private static final URI LINK = URI.create("http://127.0.0.1:7420/?a=1&b=2#token=s3cret");

  @TempDir Path folder;

  private Map<String, String> variables(String script) throws IOException {
    Path program = Files.writeString(folder.resolve("xdg-open"), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return Map.of("DISPLAY", ":7", "PATH", folder + ":/bin:/usr/bin");
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".html")).toList();
    }
  }

  @Test
  void givenDesktop_thenTheBrowserGetsAFileOfTheUserAlone_thatLeadsToTheLink() throws Exception {
    Path seen = folder.resolve("seen");
    Map<String, String> variables =
        variables("echo \"$#\" \"$@\" >'%s.new'; mv '%s.new' '%s'".formatted(seen, seen, seen));

    String obstacle = new BrowserOpener(variables, "Linux", "anna").open(LINK, folder);

    assertThat(obstacle).isNull();
    await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(seen));
    Path file = files().get(0);
    assertThat(Files.readString(seen))
        .isEqualTo("1 " + file.toUri() + "\n")
        .doesNotContain("s3cret");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(Files.readString(file))
        .contains("content=\"0;url=http://127.0.0.1:7420/?a=1&amp;b=2#token=s3cret\"");
  }

  @Test
  void givenNoBrowser_thenItIsSaid() throws Exception {
    Map<String, String> variables = variables("exit 3");
    assertThat(new BrowserOpener(variables, "Linux", "anna").open(LINK, folder))
        .isEqualTo("xdg-open ended with status 3");
    Files.delete(folder.resolve("xdg-open"));
    assertThat(
            new BrowserOpener(Map.of("DISPLAY", ":7", "PATH", "/nowhere"), "Mac OS X", "anna")
                .open(LINK, folder))
        .isEqualTo("open cannot be started");
  }

  @Test
  void givenRootOrNoDisplay_thenNothingIsStartedOrWritten() throws Exception {
    Map<String, String> variables = variables("exit 3");
    assertThat(new BrowserOpener(variables, "Linux", "root").open(LINK, folder))
        .isEqualTo("a browser does not run as root");
    assertThat(new BrowserOpener(Map.of(), "Linux", "anna").open(LINK, folder))
        .isEqualTo("there is no display");
    assertThat(files()).isEmpty();
  }
}
