package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.Cookie;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.console.Console;
import io.mortise.console.ConsoleAccess;
import io.mortise.console.ConsoleServlet;
import io.mortise.testserver.TestStore;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page in an application with a session cookie. */
@Tag("extended")
class ServletPageTest {
  /** A name whose escaped slash and percent sign Tomcat rejects in a path. */
  private static final String NAME = "invoice/42 %2F;#?&+鎖";

  private static final Logger TOMCAT = Logger.getLogger("org.apache");

  @RegisterExtension final ConsolePage console = new ConsolePage();
  @TempDir Path folder;
  private final List<String> written = new CopyOnWriteArrayList<>();
  private final List<String> refused = new CopyOnWriteArrayList<>();
  private String address;

  private static ConsoleAccess access(HttpServletRequest request) {
    boolean signedIn =
        request.getCookies() != null
            && Stream.of(request.getCookies()).anyMatch(each -> each.getName().equals("user"));
    return signedIn ? ConsoleAccess.ACT : ConsoleAccess.NONE;
  }

  private LockClient serve(boolean async) throws Exception {
    TOMCAT.setLevel(Level.WARNING);
    String store = TestStore.MEMORY.newUrl();
    LockClient locks = console.closed(LockClient.connect(store));
    ConsoleServlet servlet =
        new ConsoleServlet(
            Console.builder(locks).budget(0.5).allow(ConsolePage.ALL),
            request -> {
              if (request.getMethod().equals("POST")) {
                written.add(String.valueOf(request.getHeader("X-Csrf")));
              }
              return access(request);
            },
            request -> List.of(Map.of("X-Csrf", "masked"), Map.of("X-Csrf", "of this user")));
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(folder.toString());
    tomcat.setHostname("127.0.0.1");
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    Context context = tomcat.addContext("/shop", folder.toString());
    Wrapper wrapper = Tomcat.addServlet(context, "console", servlet);
    wrapper.setAsyncSupported(async);
    context.addServletMappingDecoded("/ops/locks/*", "console");
    refuseFirstForm(context, async);
    tomcat.start();
    console.closed(
        () -> {
          tomcat.stop();
          tomcat.destroy();
        });
    address = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/shop/ops/locks";
    return console.closed(LockClient.builder().url(store).name("shop").build());
  }

  /** Like a filter that requires the raw CSRF token. */
  private void refuseFirstForm(Context context, boolean async) {
    FilterDef definition = new FilterDef();
    definition.setFilterName("csrf");
    definition.setAsyncSupported(Boolean.toString(async));
    definition.setFilter(
        (request, response, chain) -> {
          String sent = ((HttpServletRequest) request).getHeader("X-Csrf");
          if ("masked".equals(sent)) {
            refused.add(sent);
            ((HttpServletResponse) response).sendError(403);
          } else {
            chain.doFilter(request, response);
          }
        });
    context.addFilterDef(definition);
    FilterMap map = new FilterMap();
    map.setFilterName("csrf");
    map.addURLPattern("/*");
    context.addFilterMap(map);
  }

  private void signIn() {
    console.page().context().addCookies(List.of(new Cookie("user", "alice").setUrl(address)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenUser_whenPageIsOpened_thenItIsLive_andEvictsWithWhatTheApplicationWants(boolean async)
      throws Exception {
    LockClient shop = serve(async);
    Lease lease = ConsolePage.hold(shop, NAME, "nightly");
    signIn();
    Page page = console.page();
    // Without the trailing slash.
    page.navigate(address);
    assertThat(page).hasURL(address + "/");
    page.navigate(
        address + "/#/lock/" + URLEncoder.encode(NAME, StandardCharsets.UTF_8).replace("+", "%20"));
    assertThat(console.detail().locator("h2")).hasText(NAME);
    assertThat(console.detail().locator(".facts")).containsText("nightly");
    ConsolePage.hold(shop, "another", "");
    assertThat(console.table().locator("tbody tr")).hasCount(2);
    console.button("Evict…").click();
    page.locator("dialog").getByText("Break: free the lock at once").click();
    page.locator("dialog").getByLabel("Type the lock’s name to confirm").fill(NAME);
    page.locator("dialog").locator("button.fill").click();
    assertThat(page.locator(".note")).containsText("Free at once");
    assertThat(refused).containsExactly("masked");
    assertThat(written).containsExactly("of this user");
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenNobodyIsSignedIn_thenThePageSaysSo_andGoesOnAfterwards() throws Exception {
    LockClient shop = serve(true);
    ConsolePage.hold(shop, "job", "");
    Page page = console.page();
    page.navigate(address + "/");
    assertThat(page.locator("main.refused")).containsText("Nobody is signed in");
    signIn();
    page.reload();
    page.navigate(address + "/#/locks");
    assertThat(console.row("job")).isVisible();
    page.context().clearCookies();
    page.reload();
    assertThat(page.locator("main.refused")).containsText("Nobody is signed in");
  }
}
