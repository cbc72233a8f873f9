package shop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;

/** The files of {@code deploy}, parsed. */
final class DeploymentFiles {
  private static final Pattern SECTION = Pattern.compile("\\[(\\w+)]");

  private DeploymentFiles() {}

  static Path path(String name) {
    return Path.of("deploy", name);
  }

  static String text(String name) {
    try {
      return Files.readString(path(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The values of a YAML file by their paths, such as {@code spec.ports[0].name}. */
  static Properties yaml(String text) {
    YamlPropertiesFactoryBean parser = new YamlPropertiesFactoryBean();
    parser.setResources(new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)));
    return parser.getObject();
  }

  /** The strings of a list of a YAML file. */
  static List<String> list(Properties yaml, String path) {
    List<String> values = new ArrayList<>();
    for (int i = 0; yaml.containsKey(path + "[" + i + "]"); i++) {
      values.add(String.valueOf(yaml.get(path + "[" + i + "]")));
    }
    return values;
  }

  /** The variables of the deployment's container; one from a secret has {@code secret:KEY}. */
  static Map<String, String> environment(Properties yaml) {
    Map<String, String> environment = new TreeMap<>();
    String path = "spec.template.spec.containers[0].env";
    for (int i = 0; yaml.containsKey(path + "[" + i + "].name"); i++) {
      String each = path + "[" + i + "].";
      String secret = yaml.getProperty(each + "valueFrom.secretKeyRef.key");
      environment.put(
          yaml.getProperty(each + "name"),
          secret == null ? yaml.getProperty(each + "value") : "secret:" + secret);
    }
    return environment;
  }

  /** The values of a unit of systemd by section and key, such as {@code Service.Type}. */
  static Map<String, String> unit(String text) {
    Map<String, String> values = new TreeMap<>();
    String section = "";
    for (String line : text.lines().toList()) {
      var header = SECTION.matcher(line);
      if (header.matches()) {
        section = header.group(1);
      } else if (!line.isBlank() && !line.startsWith("#")) {
        int equals = line.indexOf('=');
        values.put(section + "." + line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return values;
  }

  /** The words of an instruction of the container file, which is written as a JSON list. */
  static List<String> words(String containerfile, String instruction) {
    String list =
        containerfile
            .lines()
            .filter(line -> line.startsWith(instruction + " "))
            .findFirst()
            .orElseThrow()
            .substring(instruction.length() + 1);
    return list(yaml("words: " + list), "words");
  }
}
