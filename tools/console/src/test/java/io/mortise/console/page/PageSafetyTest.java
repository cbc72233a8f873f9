package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names and labels are foreign input. */
class PageSafetyTest {
  @RegisterExtension final ConsolePage console = new ConsolePage();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<img src=x onerror=window.got=1>",
        "</script><script>window.got=1</script>",
        "javascript:window.got=1//",
        "\u202egnp.exe",
        "a b/%2F/#/?x=1&y/鎖",
        "constructor"
      })
  void givenNameAndLabelOfAnybody_whenShown_thenTheyAreTextAndTheLinkLeadsToTheLock(String name) {
    console.start(TestStore.MEMORY.newUrl(), builder -> builder.allow(ConsolePage.ALL));
    LockClient one = console.client(name);
    ConsolePage.hold(one, name, name);
    console.queue(console.client("two"), name, name);
    String shown = name.replace("\u202e", "\\u{202e}");
    console.visit("/locks");
    console.table().locator("tbody a").first().click();
    assertThat(console.detail().locator("h2")).hasText(shown);
    assertThat(console.detail().locator(".facts")).containsText(shown);
    assertThat(console.detail().locator("ol.queue li")).containsText(shown);
    console.page().reload();
    assertThat(console.detail().locator("h2")).hasText(shown);
    for (String page : new String[] {"/", "/waits", "/waits?as=tree", "/processes", "/history"}) {
      console.go(page);
      assertThat(console.page().locator("main")).containsText(shown);
    }
    console.go("/lock/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20"));
    assertThat(console.button("Evict…")).isVisible();
    console.page().keyboard().press("e");
    assertThat(console.page().locator("dialog")).containsText(shown);
    assertThat(console.page().evaluate("() => window.got === undefined")).isEqualTo(true);
    assertThat(console.page().title()).doesNotContain("\u202e");
    assertThat(console.page().locator("main img")).hasCount(0);
    assertThat(console.page().content()).doesNotContain("\u202e");
  }

  @Test
  void givenPage_whenScriptOrStyleIsPutIntoIt_thenThePolicyRefusesIt() {
    console.start(TestStore.MEMORY.newUrl());
    console.visit("/locks");
    assertThat(console.page().locator("h1")).hasText("Locks");
    console
        .page()
        .evaluate("() => document.querySelector('h1').setAttribute('style', 'color: red')");
    console
        .page()
        .evaluate(
            "() => { try { document.querySelector('h1').innerHTML = '<b>x</b>'; } catch (e) {"
                + " console.error('refused: ' + e.name); } }");
    BoundedWait.until(
        BoundedWait.ANSWER,
        "both are refused",
        () -> {
          console.page().evaluate("() => 0");
          return console.errors().size() >= 2;
        });
    assertThat(console.takeErrors())
        .anySatisfy(error -> assertThat(error).contains("style"))
        .anySatisfy(error -> assertThat(error).contains("TrustedHTML"));
  }
}
