from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("checks", "0006_revision_of_a_cluster")]

    operations = [
        migrations.AddField("cluster", "rules", models.CharField(default="", max_length=16)),
        migrations.AddField("run", "result_name", models.CharField(default="", max_length=253)),
        migrations.AddField("result", "judged", models.CharField(default="", max_length=80)),
        migrations.AddField("result", "sound", models.BooleanField(default=False)),
        migrations.AddField("result", "digest_read", models.CharField(default="", max_length=71)),
        migrations.AddField("result", "claimed_at", models.DateTimeField(null=True)),
    ]
