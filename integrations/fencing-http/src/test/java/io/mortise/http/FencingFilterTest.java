package io.mortise.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.admin.Eviction;
import io.mortise.testserver.TestStore;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

/** The filter in a Tomcat, called by each client over loopback. */
class FencingFilterTest {
  private static final String LOCK = "invoice/42";
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir private Path folder;

  private final GuardedCell cell = new GuardedCell();
  private final HttpClient client = HttpClient.newHttpClient();
  private final Tomcat tomcat = new Tomcat();
  private LockClient locks;

  @BeforeEach
  void open() throws Exception {
    locks = LockClient.connect(TestStore.MEMORY.newUrl());
    tomcat.setBaseDir(folder.toString());
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    tomcat.setSilent(true);
    StandardContext context =
        (StandardContext) tomcat.addContext("", folder.toFile().getAbsolutePath());
    // These checks need --add-opens, and look for leaks of an application in a running server.
    context.setClearReferencesObjectStreamClassCaches(false);
    context.setClearReferencesRmiTargets(false);
    context.setClearReferencesThreadLocals(false);
    Wrapper servlet = Tomcat.addServlet(context, "cell", new CellServlet());
    servlet.setAsyncSupported(true);
    context.addServletMappingDecoded("/*", "cell");
    map(context, "required", FencingFilter.required(), "/required/*");
    map(context, "optional", FencingFilter.optional(), "/optional/*");
    map(context, "locked", FencingFilter.required().withLock(request -> LOCK), "/locked/*");
    map(context, "guarded", FencingFilter.required().withGuard(cell::enter), "/guarded/*");
    tomcat.start();
  }

  @AfterEach
  void close() throws Exception {
    tomcat.stop();
    tomcat.destroy();
    locks.close();
  }

  private static void map(Context context, String name, FencingFilter filter, String pattern) {
    FilterDef definition = new FilterDef();
    definition.setFilterName(name);
    definition.setFilter(filter);
    definition.setAsyncSupported("true");
    context.addFilterDef(definition);
    FilterMap map = new FilterMap();
    map.setFilterName(name);
    map.addURLPattern(pattern);
    map.setDispatcher(DispatcherType.REQUEST.name());
    map.setDispatcher(DispatcherType.ASYNC.name());
    context.addFilterMap(map);
  }

  /** Writes under the token of the request, to the last part of its path. */
  private final class CellServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
        throws ServletException, IOException {
      String path = request.getRequestURI();
      Optional<FencingToken> token = FencingFilter.token(request);
      if (path.endsWith("/wrapped")) {
        try {
          token.ifPresent(cell::write);
        } catch (StaleTokenException e) {
          throw new ServletException("Request processing failed", new IllegalStateException(e));
        }
      } else if (path.endsWith("/begun")) {
        response.setHeader("Access-Control-Allow-Origin", "https://shop");
        response.getWriter().write("begun");
        token.ifPresent(cell::write);
      } else if (path.endsWith("/other")) {
        throw new StaleTokenException("another row", new FencingToken("other", 1, "server"));
      } else if (path.endsWith("/late")) {
        response.getWriter().write("begun");
        response.flushBuffer();
        token.ifPresent(cell::write);
      } else if (path.endsWith("/async") && request.getDispatcherType() == DispatcherType.REQUEST) {
        AsyncContext async = request.startAsync();
        async.start(async::dispatch);
        return;
      } else if (path.endsWith("/none")) {
        response.getWriter().write("untouched");
        return;
      } else {
        token.ifPresent(cell::write);
      }
      response.getWriter().write(token.map(FencingToken::lock).orElse("without"));
    }
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path);
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).timeout(LIMIT);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path, FencingToken token) throws Exception {
    return get(path, FencingHeader.NAME, FencingHeader.format(token));
  }

  private FencingToken hold() throws Exception {
    try (Lease lease = locks.lock(LOCK).acquireWithin(LIMIT)) {
      return lease.fencingToken();
    }
  }

  @Test
  void givenTokens_whenShownInOrder_thenTheyPass_andAStaleOneIs412WithWhatWasSeen()
      throws Exception {
    FencingToken first = hold();
    FencingToken second = hold();
    assertThat(get("/required/a", first).body()).isEqualTo(LOCK);
    assertThat(get("/required/a", second).statusCode()).isEqualTo(200);
    assertThat(cell.writes()).isEqualTo(2);
    for (String path :
        new String[] {"/required/a", "/required/wrapped", "/required/async", "/guarded/none"}) {
      HttpResponse<String> refused = get(path, first);
      assertThat(refused.statusCode()).as(path).isEqualTo(412);
      assertThat(refused.headers().firstValue("Content-Type"))
          .get()
          .asString()
          .startsWith("application/problem+json");
      assertThat(refused.body()).contains("\"urn:mortise:stale-token\"", "\"status\":412");
      assertThatThrownBy(() -> FencingHeader.ensureAccepted(refused, first))
          .isInstanceOf(StaleTokenException.class)
          .extracting(e -> ((StaleTokenException) e).currentToken())
          .isEqualTo(second.value());
    }
    assertThat(cell.writes()).isEqualTo(2);
    HttpResponse<String> accepted = get("/required/async", second);
    assertThat(accepted.body()).isEqualTo(LOCK);
    FencingHeader.ensureAccepted(accepted, second);
  }

  @Test
  void givenHandlerThatHasBegunToAnswer_whenItsTokenIsStale_thenOnlyItsTextIsDropped()
      throws Exception {
    FencingToken first = new FencingToken("rechnung/é", 917, "a");
    assertThat(get("/required/a", new FencingToken("rechnung/é", 918, "b")).statusCode())
        .isEqualTo(200);
    HttpResponse<String> refused = get("/required/begun", first);
    assertThat(refused.statusCode()).isEqualTo(412);
    assertThat(refused.body())
        .startsWith("{")
        .endsWith("}")
        .contains("rechnung/\\u00e9")
        .doesNotContain("begun");
    assertThat(refused.headers().firstValue("Access-Control-Allow-Origin"))
        .contains("https://shop");
    assertThatThrownBy(() -> FencingHeader.ensureAccepted(refused, first))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void givenTokenThatWasGrantedTwice_thenItIs409() throws Exception {
    FencingToken token = hold();
    assertThat(get("/required/a", token).statusCode()).isEqualTo(200);
    FencingToken twin = new FencingToken(LOCK, token.value(), "twin");
    HttpResponse<String> refused = get("/required/a", twin);
    assertThat(refused.statusCode()).isEqualTo(409);
    assertThatThrownBy(() -> FencingHeader.ensureAccepted(refused, twin))
        .isInstanceOfSatisfying(
            StaleTokenException.class, e -> assertThat(e.isGrantedTwice()).isTrue());
  }

  @Test
  void givenNoToken_thenItIs428WhereOneIsRequired_andPassesElsewhere() throws Exception {
    assertThat(get("/required/a").statusCode()).isEqualTo(428);
    assertThat(get("/optional/a").body()).isEqualTo("without");
  }

  @Test
  void givenHeaderThatCannotBeRead_orOneTwice_thenItIs400() throws Exception {
    String text = FencingHeader.format(hold());
    for (String path : new String[] {"/required/a", "/optional/a"}) {
      HttpResponse<String> refused = get(path, FencingHeader.NAME, "v1;lock=\"x");
      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(refused.body()).contains("invalid-token", "\\\"");
      assertThat(get(path, FencingHeader.NAME, text, FencingHeader.NAME, text).statusCode())
          .isEqualTo(400);
    }
    assertThat(cell.writes()).isZero();
  }

  @Test
  void givenFilterWithALock_thenTokensOfOthersAre400_andDigitsAreRead() throws Exception {
    assertThat(get("/locked/a", new FencingToken("other", 5, "h")).statusCode()).isEqualTo(400);
    assertThat(get("/locked/a", FencingHeader.DIGITS_NAME, "917").body()).isEqualTo(LOCK);
    assertThat(get("/locked/a", FencingHeader.DIGITS_NAME, "916").statusCode()).isEqualTo(412);
    assertThat(get("/locked/a", FencingHeader.DIGITS_NAME, "x").statusCode()).isEqualTo(400);
    assertThat(
            get(
                    "/locked/a",
                    FencingHeader.DIGITS_NAME,
                    "918",
                    FencingHeader.NAME,
                    FencingHeader.format(new FencingToken(LOCK, 919, "h")))
                .statusCode())
        .isEqualTo(400);
    assertThat(get("/required/a", FencingHeader.DIGITS_NAME, "920").statusCode())
        .as("no lock is named")
        .isEqualTo(428);
  }

  @Test
  void givenRefusalOfAnotherToken_orAResponseThatIsCommitted_thenTheFilterStaysOut()
      throws Exception {
    FencingToken first = hold();
    FencingToken second = hold();
    assertThat(get("/required/other", second).statusCode()).isEqualTo(500);
    assertThat(get("/required/a", second).statusCode()).isEqualTo(200);
    try {
      HttpResponse<String> late = get("/required/late", first);
      assertThat(late.statusCode()).isEqualTo(200);
    } catch (IOException cutOff) {
      // Tomcat ends the connection in the middle of the response.
      assertThat(cutOff).isNotNull();
    }
    assertThat(cell.writes()).isEqualTo(1);
  }

  @Test
  void givenClientsOfSpring_thenEachSendsTheToken_andThrowsTheRefusal() throws Exception {
    FencingToken first = hold();
    FencingToken second = hold();
    RestTemplate template = new RestTemplate(new JdkClientHttpRequestFactory(client));
    template.getInterceptors().add(new FencingRequestInterceptor(() -> Optional.of(second)));
    assertThat(template.getForObject(uri("/required/a"), String.class)).isEqualTo(LOCK);
    RestClient stale =
        RestClient.builder()
            .requestFactory(new JdkClientHttpRequestFactory(client))
            .requestInterceptor(new FencingRequestInterceptor(() -> Optional.of(first)))
            .build();
    assertThatThrownBy(() -> stale.get().uri(uri("/required/a")).retrieve().body(String.class))
        .isInstanceOf(StaleTokenException.class);
    assertThat(web(Mono.just(second)).block(LIMIT)).isEqualTo(LOCK);
    assertThatThrownBy(() -> web(Mono.just(first)).block(LIMIT))
        .isInstanceOf(StaleTokenException.class);
    assertThat(cell.writes()).isEqualTo(2);
    RestClient without =
        RestClient.builder()
            .requestFactory(new JdkClientHttpRequestFactory(client))
            .requestInterceptor(new FencingRequestInterceptor(Optional::empty))
            .build();
    assertThat(without.get().uri(uri("/optional/a")).retrieve().body(String.class))
        .isEqualTo("without");
  }

  private Mono<String> web(Mono<FencingToken> token) {
    return WebClient.builder()
        .clientConnector(new JdkClientHttpConnector(client))
        .filter(new FencingExchangeFilter(() -> token))
        .build()
        .get()
        .uri(uri("/required/a"))
        .retrieve()
        .bodyToMono(String.class);
  }

  @Test
  void givenLeaseThatIsLost_whenItsTokenIsToBeSent_thenNothingIsSent() throws Exception {
    try (LockClient other = LockClient.connect(TestStore.MEMORY.newUrl())) {
      Lease lease = other.lock(LOCK).acquireWithin(LIMIT);
      other
          .admin()
          .evict(
              LOCK,
              other.admin().find(LOCK).orElseThrow().holders().get(0).attempt(),
              Eviction.BREAK);
      Awaitility.await().until(() -> lease.state() == Lease.State.LOST);
      RestTemplate template = new RestTemplate(new JdkClientHttpRequestFactory(client));
      template
          .getInterceptors()
          .add(new FencingRequestInterceptor(() -> Optional.of(lease.fencingToken())));
      assertThatThrownBy(() -> template.getForObject(uri("/required/a"), String.class))
          .isInstanceOf(LeaseLostException.class);
      assertThatThrownBy(() -> web(Mono.fromSupplier(lease::fencingToken)).block(LIMIT))
          .isInstanceOf(LeaseLostException.class);
      assertThat(cell.writes()).isZero();
    }
  }
}
